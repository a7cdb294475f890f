"""What are the bytes of each id in a Hugging Face tokenizer: `tokenizer.json`, `tokenizers`, `transformers`?

Neither package is imported. A `tokenizers.Tokenizer` gives its own JSON (0.35 s for 128,000 tokens, of which
half is parsing), so that an object and a file go the same way. Format: the `tokenizers` crate,
`src/tokenizer/serialization.rs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from maskwright.tokenizers.decoder import TokenDecoder, token_decoder
from maskwright.tokenizers.json_text import expect, member, optional, parse_object
from maskwright.tokenizers.table import (
    TokenTable,
    check_id,
    name_special,
    place,
    refuse,
    text_bytes,
    without_special,
)


def read_document(document: dict[str, Any], where: str) -> TokenTable:
    """Read a parsed `tokenizer.json`. The file does not say which token is the EOS."""
    model = member(document, "model", dict, where)
    decoder = token_decoder(document, where)
    vocab = _vocab(model, where)
    added = [_added(entry, where) for entry in optional(document, "added_tokens", list, where) or ()]
    special = name_special(_special(model, vocab, added, where), where)
    tokens = _tokens(vocab, added, decoder, where)
    return TokenTable(without_special(tokens, special), special)


def _vocab(model: dict[str, Any], where: str) -> dict[str, Any]:
    """Token string to id. In the file: an object, or for Unigram [string, score] pairs in id order."""
    vocab = model.get("vocab")
    if not isinstance(vocab, list):
        return member(model, "vocab", dict, where)
    pieces = [_scored(entry, i, where) for i, entry in enumerate(vocab)]
    by_piece = {piece: i for i, piece in enumerate(pieces)}
    if len(by_piece) != len(pieces):
        refuse("the vocab has a token twice", where=where, code="huggingface")
    return by_piece


def _scored(entry: Any, token_id: int, where: str) -> str:
    pair = expect(entry, list, where, f"entry {token_id} of the vocab")
    return expect(pair[0] if pair else None, str, where, f"the token {token_id}")


def _added(entry: Any, where: str) -> tuple[int, str, bool]:
    """Id, content, and whether it is special."""
    entry = expect(entry, dict, where, "an added token")
    content = member(entry, "content", str, where)
    token_id = check_id(entry.get("id"), f"{where}, added token {content!r}")
    return token_id, content, member(entry, "special", bool, where)


def _special(
    model: dict[str, Any], vocab: dict[str, Any], added: list[tuple[int, str, bool]], where: str
) -> Iterator[tuple[str, Any]]:
    """Added tokens marked special, and the model's unknown token: its text is never its spelling."""
    yield from ((content, token_id) for token_id, content, special in added if special)
    unknown = optional(model, "unk_token", str, where)
    if unknown is not None and unknown in vocab:
        yield unknown, vocab[unknown]
    unknown_id = optional(model, "unk_id", int, where)
    if unknown_id is not None:
        yield from ((content, i) for content, i in vocab.items() if i == unknown_id)


def _tokens(
    vocab: dict[str, Any], added: list[tuple[int, str, bool]], decoder: TokenDecoder, where: str
) -> list[bytes | None]:
    """The bytes of each id. An added token at an id of the model replaces the model's token there."""
    decode = decoder.token
    tokens = place(((token_id, decode(token)) for token, token_id in vocab.items()), where)
    new = [(token_id, content) for token_id, content, _ in added if vocab.get(content) != token_id]
    extra = place(((token_id, decoder.added(content)) for token_id, content in new), where)
    tokens += [None] * (len(extra) - len(tokens))
    for token_id, token in enumerate(extra):
        if token is not None:
            tokens[token_id] = token
    return tokens


def read_tokenizer(tokenizer: Any) -> TokenTable:
    """Read a `tokenizers.Tokenizer`."""
    where = "the Hugging Face tokenizer"
    try:
        text = tokenizer.to_str()
    except Exception as error:  # tokenizers raises a bare Exception where a part is a Python object
        refuse("cannot read the tokenizer", where=where, why=str(error), code="huggingface")
    return read_document(parse_object(text, where), where)


def read_wrapper(wrapper: Any) -> TokenTable:
    """Read an object like `transformers.PreTrainedTokenizerFast`, which adds special tokens and the EOS."""
    return _with_special_of(wrapper, read_tokenizer(wrapper.backend_tokenizer))


def read_slow(tokenizer: Any) -> TokenTable:
    """Read an object like `transformers.PreTrainedTokenizer`: token strings, and hints how they spell."""
    where = f"the tokenizer {type(tokenizer).__name__}"
    decode = _slow_decoder(tokenizer, where)
    strings = tokenizer.convert_ids_to_tokens(list(range(check_id(len(tokenizer), where))))
    tokens = place(((i, None if token is None else decode(token)) for i, token in enumerate(strings)), where)
    special: list[tuple[str, int]] = []
    for token_id, token in dict(getattr(tokenizer, "added_tokens_decoder", {})).items():
        if getattr(token, "special", False):
            special.append((str(token), token_id))
        elif 0 <= token_id < len(tokens):
            tokens[token_id] = text_bytes(str(token), where)
    named = name_special(special, where)
    return _with_special_of(tokenizer, TokenTable(without_special(tokens, named), named))


def _slow_decoder(tokenizer: Any, where: str) -> Callable[[str], bytes]:
    """The decoder of the slow tokenizer's kind, told by the attributes that the kind has."""
    if hasattr(tokenizer, "sp_model"):
        parts: list[dict[str, Any]] = [{"type": "Metaspace", "replacement": "▁"}, {"type": "ByteFallback"}]
    elif hasattr(tokenizer, "byte_decoder"):
        parts = [{"type": "ByteLevel"}]
    elif hasattr(tokenizer, "wordpiece_tokenizer"):
        parts = [{"type": "WordPiece", "prefix": "##"}]
    else:
        parts = []
    document = {"model": {}, "decoder": {"type": "Sequence", "decoders": parts}}
    return token_decoder(document, where).token


def _with_special_of(wrapper: Any, table: TokenTable) -> TokenTable:
    """Add what a transformers object knows: `all_special_ids` and `eos_token_id`."""
    where = f"the tokenizer {type(wrapper).__name__}"
    ids = [check_id(token_id, where) for token_id in getattr(wrapper, "all_special_ids", ())]
    names = wrapper.convert_ids_to_tokens(ids) if ids else []
    special = name_special([*table.special.items(), *zip(names, ids, strict=True)], where)
    eos = getattr(wrapper, "eos_token_id", None)
    eos_ids = frozenset() if eos is None else frozenset({check_id(eos, f"{where}, eos_token_id")})
    return TokenTable(without_special(table.tokens, special, eos_ids), special, eos_ids)
