"""What is a vocabulary: the bytes of every token id, the special tokens, and which ids end a text?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from importlib.resources import files as package_files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from maskwright.errors import VocabularyError
from maskwright.tokenizers import dispatch, huggingface, sentencepiece, tekken, tiktoken, vocabulary_json
from maskwright.tokenizers.files import read_file, read_json
from maskwright.tokenizers.json_text import parse_object
from maskwright.tokenizers.table import MAX_IDS, TokenTable, check_id, name_special, refuse

EosId = int | str | Iterable[int | str] | None
"""One EOS id or several; a str is the name of a special token."""

_HERE = "the vocabulary"
_DEFAULT = "data/small.vocabulary.json"


class Vocabulary:
    """The model's table of tokens. Immutable; equal vocabularies have equal content.

    A token is its bytes; a special token is its id, and its bytes are None. None are also the ids without a
    token: holes, and the padding up to `vocab_size`. An id in `eos_ids` is special even if the tokenizer
    gives it bytes.

    >>> vocabulary = Vocabulary.from_tokens([b"a", b"b", None], eos_id=2, special={"<eos>": 2}, vocab_size=4)
    >>> vocabulary.tokens
    (b'a', b'b', None, None)
    >>> vocabulary
    Vocabulary(4 ids, 2 with bytes, eos {2: '<eos>'}, 1 special, 254 single bytes missing)
    """

    __slots__ = ("_fingerprint", "eos_ids", "special", "tokens")

    tokens: tuple[bytes | None, ...]
    """The bytes of each id."""
    eos_ids: frozenset[int]
    """The ids that end a text."""
    special: Mapping[str, int]
    """The named special tokens; several names may share an id. Read only."""
    _fingerprint: str | None

    def __init__(
        self,
        tokens: Iterable[bytes | None],
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> None:
        checked = _checked_tokens(tokens)
        size = len(checked) if vocab_size is None else _checked_size(vocab_size, len(checked))
        names = _checked_special(special or {}, size)
        eos_ids = _checked_eos(eos_id, names, size)
        checked += [None] * (size - len(checked))
        for token_id in {*names.values(), *eos_ids}:
            checked[token_id] = None
        self._set("tokens", tuple(checked))
        self._set("eos_ids", eos_ids)
        self._set("special", MappingProxyType(names))
        self._set("_fingerprint", None)

    @classmethod
    def from_tokens(
        cls,
        tokens: Iterable[bytes | None],
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """A vocabulary from the bytes of each id, None for an id without bytes.

        `special` maps names to ids, and `vocab_size` pads to the width of the model's logits. Raises
        `VocabularyError` naming the id for a token that is not bytes, and for an id outside 0 to `vocab_size`
        - 1.
        """
        return cls(tokens, eos_id=eos_id, special=special, vocab_size=vocab_size)

    @classmethod
    def from_huggingface(
        cls,
        tokenizer: Any,
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """A vocabulary from a `tokenizers.Tokenizer` or a transformers tokenizer.

        A `tokenizers.Tokenizer` does not know its EOS: give `eos_id`. A transformers tokenizer knows one; a
        chat model often has more. Its logits can be wider than the tokenizer: give `vocab_size` from the
        model's config.
        """
        if hasattr(tokenizer, "backend_tokenizer"):
            table = huggingface.read_wrapper(tokenizer)
        elif hasattr(tokenizer, "to_str"):
            table = huggingface.read_tokenizer(tokenizer)
        else:
            _need(tokenizer, "convert_ids_to_tokens", "a Hugging Face tokenizer")
            table = huggingface.read_slow(tokenizer)
        return cls._from_table(table, eos_id, special, vocab_size)

    @classmethod
    def from_tiktoken(
        cls,
        encoding: Any,
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """A vocabulary from a `tiktoken.Encoding`; its EOS is its `<|endoftext|>`, if any, or `eos_id`."""
        _need(encoding, "decode_single_token_bytes", "a tiktoken encoding")
        return cls._from_table(tiktoken.read_encoding(encoding), eos_id, special, vocab_size)

    @classmethod
    def from_sentencepiece(
        cls,
        processor: Any,
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """A vocabulary from a `SentencePieceProcessor`; its EOS is the model's own, or `eos_id`."""
        _need(processor, "serialized_model_proto", "a SentencePiece processor")
        return cls._from_table(sentencepiece.read_processor(processor), eos_id, special, vocab_size)

    @classmethod
    def from_tekken(
        cls,
        tekken_json: dict[str, Any] | str | os.PathLike[str],
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """A vocabulary from a Tekken file's path or its parsed JSON; its EOS is `</s>`, or `eos_id`."""
        if isinstance(tekken_json, dict):
            table = tekken.read_document(tekken_json, "the Tekken document")
        else:
            table = read_file(tekken_json)
        return cls._from_table(table, eos_id, special, vocab_size)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """A vocabulary from a file: `tokenizer.json`, tiktoken text, SentencePiece, Tekken, or our own.

        The kind is told by the content. What a file does not say is not guessed: `tokenizer.json` does not
        name its EOS, and a tiktoken file lists no special token at all. For Llama 3 those follow the 128,000
        ordinary tokens::

            special = {"<|end_of_text|>": 128001, "<|eom_id|>": 128008, "<|eot_id|>": 128009}
            Vocabulary.from_file(path, special=special, eos_id=list(special), vocab_size=128256)

        and for Qwen the 151,643 (`<|endoftext|>` 151643, `<|im_start|>` 151644, `<|im_end|>` 151645).
        Raises `VocabularyError` for a file that cannot be read exactly.
        """
        return cls._from_table(read_file(path), eos_id, special, vocab_size)

    @classmethod
    def from_any(
        cls,
        tokenizer: Any,
        *,
        eos_id: EosId = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """A vocabulary from anything that `vocab_bytes` takes."""
        return cls._from_table(dispatch.read(tokenizer), eos_id, special, vocab_size)

    @classmethod
    def default(cls) -> Self:
        """The small vocabulary of the package: all 256 bytes, some 3,800 longer tokens, EOS `<|end|>`."""
        where = _DEFAULT
        text = (package_files("maskwright") / _DEFAULT).read_text(encoding="utf-8")
        return cls._from_table(read_json(parse_object(text, where), where), None, None, None)

    @classmethod
    def _from_table(
        cls, table: TokenTable, eos_id: EosId, special: Mapping[str, int] | None, vocab_size: int | None
    ) -> Self:
        """What the tokenizer says and what the caller adds; a given `eos_id` replaces the tokenizer's."""
        names = name_special([*table.special.items(), *_mapping(special or {}).items()], _HERE)
        chosen: EosId = table.eos_ids if eos_id is None else eos_id
        if table.open_ended and vocab_size is None:
            eos_ids = _checked_eos(chosen, names, MAX_IDS)
            vocab_size = max([len(table.tokens) - 1, *names.values(), *eos_ids]) + 1
        return cls(table.tokens, eos_id=chosen, special=names, vocab_size=vocab_size)

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special tokens, holes and padding included."""
        return len(self.tokens)

    @property
    def eos_id(self) -> int | None:
        """The EOS id, the lowest if there are several, None if there is none."""
        return min(self.eos_ids, default=None)

    def missing_bytes(self) -> bytes:
        """The byte values, ascending, that are no token alone: a text that needs one may not be spellable.

        >>> Vocabulary.from_tokens([bytes([b]) for b in range(254)]).missing_bytes()
        b'\\xfe\\xff'
        """
        present = {token for token in self.tokens if token is not None and len(token) == 1}
        return b"".join(byte for byte in (bytes([value]) for value in range(256)) if byte not in present)

    def fingerprint(self) -> str:
        """SHA-256 in hex of tokens, EOS ids and special tokens: the same on every machine, kept once made."""
        if self._fingerprint is None:
            self._set("_fingerprint", _fingerprint(self.tokens, self.eos_ids, self.special))
        assert self._fingerprint is not None
        return self._fingerprint

    def to_file(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as a file that `from_file` reads back to an equal one."""
        text = vocabulary_json.write_text(self.tokens, self.eos_ids, self.special)
        Path(path).write_text(text, encoding="utf-8", newline="\n")

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, token_id: int) -> bytes | None:
        """The bytes of an id. Raises `IndexError` outside 0 to `vocab_size` - 1: a negative id is no id."""
        if not 0 <= token_id < len(self.tokens):
            raise IndexError(f"token id {token_id} is outside 0 to {len(self.tokens) - 1}")
        return self.tokens[token_id]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __repr__(self) -> str:
        names = {token_id: name for name, token_id in self.special.items()}
        eos = {token_id: names.get(token_id) for token_id in sorted(self.eos_ids)}
        with_bytes = len(self.tokens) - self.tokens.count(None)
        missing = len(self.missing_bytes())
        return (
            f"{type(self).__name__}({len(self.tokens)} ids, {with_bytes} with bytes, eos {eos or 'none'}, "
            f"{len(self.special)} special" + (f", {missing} single bytes missing)" if missing else ")")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.tokens, sorted(self.eos_ids), dict(self.special))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable: cannot delete {name!r}")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _content(self) -> tuple[object, ...]:
        return self.tokens, self.eos_ids, dict(self.special)


def _rebuilt(
    cls: type[Vocabulary], tokens: Iterable[bytes | None], eos_ids: list[int], special: dict[str, int]
) -> Vocabulary:
    """For pickle, which cannot store a read-only mapping."""
    return cls(tokens, eos_id=eos_ids, special=special)


def _checked_tokens(tokens: Any) -> list[bytes | None]:
    try:
        listed = list(tokens)
    except TypeError:
        refuse("the tokens are not a sequence", where=_HERE, why=f"a {type(tokens).__name__}", code="tokens")
    if len(listed) > MAX_IDS:
        refuse(f"{len(listed)} tokens are too many", where=_HERE, why=f"more than {MAX_IDS}", code="tokens")
    # One pass in C over the types: 128,000 tokens take 3 ms, and a loop runs only to name the culprit.
    if not set(map(type, listed)) <= {bytes, type(None)}:
        token_id = next(i for i, token in enumerate(listed) if type(token) not in (bytes, type(None)))
        kind = type(listed[token_id]).__name__
        raise VocabularyError(
            f"token {token_id} is not bytes",
            where=f"{_HERE}, token id {token_id}",
            why=f"it is a {kind}, and a token is bytes, or None if it has none",
            try_="vocab_bytes turns a tokenizer's token strings into bytes" if kind == "str" else None,
            code="vocabulary.tokens",
        )
    return listed


def _checked_size(vocab_size: object, n_tokens: int) -> int:
    size = check_id(vocab_size, f"{_HERE}, vocab_size")
    if size < n_tokens:
        refuse(
            f"vocab_size {size} is too small",
            where=_HERE,
            why=f"there are {n_tokens} tokens",
            try_="no vocab_size; or from_tokens without the last tokens, if the model has no logits for them",
            code="size",
        )
    return size


def _mapping(special: object) -> Mapping[Any, Any]:
    if isinstance(special, Mapping):
        return special
    refuse("special is not a mapping", where=_HERE, why=f"it is a {type(special).__name__}", code="special")


def _checked_special(special: object, size: int) -> dict[str, int]:
    names = name_special(_mapping(special).items(), _HERE)
    for name, token_id in names.items():
        if token_id >= size:
            refuse(
                f"special token {name!r} has the id {token_id}, outside the vocabulary",
                where=_HERE,
                why=f"the ids are 0 to {size - 1}",
                try_="a larger vocab_size",
                code="id",
            )
    return names


def _checked_eos(eos_id: EosId, names: Mapping[str, int], size: int) -> frozenset[int]:
    if eos_id is None:
        return frozenset()
    # Whatever has no length of its own is a single id (NumPy's integers are neither int nor iterable).
    several = isinstance(eos_id, Iterable) and not isinstance(eos_id, str)
    ids = frozenset(_eos_number(entry, names) for entry in (eos_id if several else (eos_id,)))  # type: ignore[union-attr]
    for token_id in ids:
        if token_id >= size:
            refuse(
                f"the EOS id {token_id} is outside the vocabulary",
                where=_HERE,
                why=f"the ids are 0 to {size - 1}",
                try_="a larger vocab_size",
                code="id",
            )
    return ids


def _eos_number(entry: object, names: Mapping[str, int]) -> int:
    if not isinstance(entry, str):
        return check_id(entry, f"{_HERE}, eos_id")
    if entry not in names:
        refuse(
            f"the EOS {entry!r} is not a special token",
            where=_HERE,
            why=f"the special tokens are {_listed(names)}" if names else "no special token is named",
            try_=f"special={{{entry!r}: its id}}, or the id itself",
            code="eos",
        )
    return names[entry]


def _listed(names: Iterable[str], most: int = 8) -> str:
    """Some names, and how many more there are."""
    listed = sorted(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(map(repr, listed[:most])) + more


def _need(tokenizer: object, method: str, kind: str) -> None:
    if not hasattr(tokenizer, method):
        refuse(
            f"a {type(tokenizer).__name__} is not {kind}",
            where=_HERE,
            why=f"it has no {method}",
            try_="Vocabulary.from_any finds out what a tokenizer is",
            code="tokenizer",
        )


def _fingerprint(
    tokens: tuple[bytes | None, ...], eos_ids: frozenset[int], special: Mapping[str, int]
) -> str:
    """Hash lengths (-1 for None), then the joined bytes: so no two contents run together."""
    digest = hashlib.sha256(b"maskwright vocabulary 1\n")
    lengths = np.fromiter((-1 if t is None else len(t) for t in tokens), dtype="<i4", count=len(tokens))
    # ascii, not repr: what repr escapes depends on the Unicode tables of the Python version.
    names = ascii((sorted(eos_ids), sorted(special.items()))).encode()
    digest.update(np.array([len(tokens), len(names)], dtype="<i8").tobytes())
    digest.update(names)
    digest.update(lengths.tobytes())
    digest.update(b"".join(token for token in tokens if token))
    return digest.hexdigest()
