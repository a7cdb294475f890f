"""What bytes does a Hugging Face decoder write for one token string?

A token's bytes are what the decoder writes for it inside a text. Three decoders do more at the edges of a
text, and that is left out here: Metaspace and a Strip after Fuse drop the first space (the encoder put it
there), BPEDecoder drops the last. WordPiece is the one whose text is not the sum of its tokens: it puts a
space between words, which depends on both neighbours, so no token carries it: "##ing" is b"ing" and "word" is
b"word".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from maskwright.tokenizers.byte_map import from_byte_map
from maskwright.tokenizers.json_text import expect, member, optional
from maskwright.tokenizers.table import refuse, text_bytes

_Step = Callable[[str], "str | bytes"]
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class TokenDecoder(NamedTuple):
    """The bytes of a token string, and of an added token (one that the model itself does not have)."""

    token: Callable[[str], bytes]
    added: Callable[[str], bytes]


def token_decoder(document: dict[str, Any], where: str) -> TokenDecoder:
    """What the decoder of a parsed `tokenizer.json` does to one token. Raises if that cannot be told."""
    model = member(document, "model", dict, where)
    parts = _flatten(optional(document, "decoder", dict, where), "decoders", where)
    parts = parts or _from_the_encoder(document, model, where)
    kinds = {part.get("type") for part in parts}
    if model.get("byte_fallback") is True and "ByteFallback" not in kinds:
        parts = [*parts, {"type": "ByteFallback"}]
    decode = _composed(_steps(parts, where), where)
    # Added tokens are matched in the text as it is written, so a byte map or a word prefix does not touch
    # them.
    literal = bool(kinds & {"ByteLevel", "WordPiece", "ByteMapIfPossible"})
    added = (lambda token: text_bytes(token, where)) if literal else decode
    return TokenDecoder(_with_word_end(decode, model, kinds, where), added)


def _flatten(part: dict[str, Any] | None, key: str, where: str) -> list[dict[str, Any]]:
    """A decoder or pre-tokenizer as its simple parts, in order (a Sequence may hold Sequences)."""
    flat: list[dict[str, Any]] = []
    pending: list[Any] = [] if part is None else [part]
    while pending:
        part = expect(pending.pop(), dict, where, f"a part of the {key}")
        if part.get("type") == "Sequence":
            pending.extend(reversed(member(part, key, list, where)))
        else:
            flat.append(part)
    return flat


def _from_the_encoder(document: dict[str, Any], model: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Without a decoder, undo what the encoder does: its pre-tokenizer, and the model's word prefix."""
    before = _flatten(optional(document, "pre_tokenizer", dict, where), "pretokenizers", where)
    known = [part for part in before if part.get("type") in ("ByteLevel", "Metaspace")]
    prefix = optional(model, "continuing_subword_prefix", str, where)
    parts: list[dict[str, Any]] = [{"type": "WordPiece", "prefix": prefix}] if prefix else []
    if known:
        return parts + known[:1]
    # Nothing says whether such a model is byte-level, so each string decides: all in the byte map, or UTF-8.
    silent = not before and not model.get("byte_fallback") and model.get("type") in (None, "BPE", "WordLevel")
    return [*parts, {"type": "ByteMapIfPossible"}] if silent else parts


def _steps(parts: list[dict[str, Any]], where: str) -> list[_Step]:
    steps: list[_Step] = []
    fused = False  # after Fuse a step sees the whole text, no longer single tokens
    for part in parts:
        kind = part.get("type")
        if kind == "Fuse":
            fused = True
        elif not (kind == "Strip" and fused):
            steps.append(_step(part, fused, where))
        fused = fused or kind in ("ByteLevel", "ByteMapIfPossible")
    return steps


def _step(part: dict[str, Any], fused: bool, where: str) -> _Step:  # noqa: PLR0911 (dispatch)
    match part.get("type"):
        case "ByteLevel" | "ByteMapIfPossible":
            return from_byte_map
        case "ByteFallback":
            return _byte_fallback
        case "Metaspace":
            return _replacing(member(part, "replacement", str, where), " ", where)
        case "Replace":
            return _replace(part, fused, where)
        case "BPEDecoder":
            return _replacing(member(part, "suffix", str, where), " ", where)
        case "WordPiece":
            prefix = member(part, "prefix", str, where)
            return lambda token: token.removeprefix(prefix)
        case "Strip":
            return _strip(part, where)
        case kind:
            why = "it merges repeated tokens" if kind == "CTC" else "what it does to one token is not known"
            refuse(f"cannot honour the decoder {kind!r}", where=where, why=why, code="decoder")


def _replace(part: dict[str, Any], fused: bool, where: str) -> _Step:
    pattern = member(part, "pattern", dict, where)
    if "String" not in pattern:
        refuse(
            "cannot honour a Replace decoder", where=where, why=f"its pattern: {pattern!r}", code="decoder"
        )
    old = member(pattern, "String", str, where)
    if fused and len(old) > 1:
        refuse(
            "cannot honour a Replace decoder after Fuse",
            where=where,
            why=f"{old!r} can lie across two tokens",
            code="decoder",
        )
    return _replacing(old, member(part, "content", str, where), where)


def _replacing(old: str, new: str, where: str) -> _Step:
    if not old:
        refuse("cannot honour a decoder that replaces nothing", where=where, code="decoder")
    return lambda token: token.replace(old, new)


def _strip(part: dict[str, Any], where: str) -> _Step:
    """Drop up to `start` and `stop` copies of a character at the ends of every token."""
    content = member(part, "content", str, where)
    start, stop = member(part, "start", int, where), member(part, "stop", int, where)

    def step(token: str) -> str:
        left = min(start, len(token) - len(token.lstrip(content)))
        token = token[left:]
        right = min(stop, len(token) - len(token.rstrip(content)))
        return token[: len(token) - right]

    if len(content) != 1 or start < 0 or stop < 0:
        refuse("cannot honour a Strip decoder", where=where, why=f"it is {part!r}", code="decoder")
    return step


def _byte_fallback(token: str) -> str | bytes:
    found = _BYTE_TOKEN.fullmatch(token)
    return bytes.fromhex(found[1]) if found else token


def _composed(steps: list[_Step], where: str) -> Callable[[str], bytes]:
    """All steps in order; once a step has made bytes, they stay as they are."""

    def decode(token: str) -> bytes:
        value: str | bytes = token
        try:
            for step in steps:
                if isinstance(value, bytes):
                    return value
                value = step(value)
            return value if isinstance(value, bytes) else value.encode()
        except UnicodeEncodeError:
            return text_bytes(token, where)  # raises: a lone surrogate

    return decode


def _with_word_end(
    decode: Callable[[str], bytes], model: dict[str, Any], kinds: set[Any], where: str
) -> Callable[[str], bytes]:
    """A model's mark for a word's end is a space, if no decoder says so (CLIP: byte-level with `</w>`)."""
    suffix = optional(model, "end_of_word_suffix", str, where)
    if not suffix or "BPEDecoder" in kinds:
        return decode
    return lambda token: decode(token[: -len(suffix)]) + b" " if token.endswith(suffix) else decode(token)
