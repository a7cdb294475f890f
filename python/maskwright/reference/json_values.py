"""How is one JSON value spelled? The compact spellings that `enum` and `const` stand for."""

from __future__ import annotations

import json
import math

from maskwright.errors import LimitError, SchemaError
from maskwright.reference.limits import ReferenceLimits

_SPECIAL = frozenset(b"\\.^$*+?{}[]|()")


def literal(data: bytes) -> str:
    r"""An ASCII pattern that matches exactly `data`.

    >>> literal("é+".encode())
    '\\xC3\\xA9\\+'
    """
    return "".join(_literal_byte(byte) for byte in data)


def _literal_byte(byte: int) -> str:
    if byte in _SPECIAL:
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02X}"


def spellings(value: object) -> list[bytes]:
    """The compact JSON of a checked value: with raw characters, and with ASCII escapes where that differs.

    A lone surrogate has no bytes of its own, so it is only written as an escape.

    >>> spellings("é")
    [b'"\\xc3\\xa9"', b'"\\\\u00e9"']
    """
    escaped = json.dumps(value, separators=(",", ":"))
    raw = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        both = [raw.encode("utf-8"), escaped.encode("ascii")]
    except UnicodeEncodeError:
        return [escaped.encode("ascii")]
    return both if raw != escaped else both[:1]


def check_value(value: object, pointer: str, limits: ReferenceLimits) -> None:
    """Raise `SchemaError` unless `value` is a JSON value, `LimitError` if it is nested too deeply."""
    stack: list[tuple[object, str, int]] = [(value, pointer, 0)]
    while stack:
        item, where, depth = stack.pop()
        if depth > limits.max_schema_depth:
            raise depth_error(where, limits)
        if isinstance(item, dict):
            for key, member in item.items():
                _check_key(key, where)
                stack.append((member, f"{where}/{escape_pointer(key)}", depth + 1))
        elif isinstance(item, list):
            stack.extend((element, f"{where}/{i}", depth + 1) for i, element in enumerate(item))
        else:
            _check_scalar(item, where)


def _check_key(key: object, where: str) -> None:
    if not isinstance(key, str):
        raise SchemaError(f"the key {key!r} is not a string", pointer=where, code="schema.malformed")


def _check_scalar(item: object, where: str) -> None:
    if item is not None and not isinstance(item, str | int | float):
        raise SchemaError(
            f"a {type(item).__name__} is not a JSON value", pointer=where, code="schema.malformed"
        )
    if isinstance(item, float) and not math.isfinite(item):
        raise SchemaError(f"{item} is not a JSON number", pointer=where, code="schema.malformed")
    if isinstance(item, int) and item.bit_length() > 10_000:  # str() itself refuses numbers of 4,300 digits
        raise SchemaError(
            "an integer of more than 3,000 digits", pointer=where, code="schema.unsupported.number"
        )


def depth_error(pointer: str, limits: ReferenceLimits) -> LimitError:
    """The error for a schema or a value that is nested too deeply."""
    return LimitError(
        f"nested more than {limits.max_schema_depth} levels",
        limit="max_schema_depth",
        value=limits.max_schema_depth,
        where=f"#{pointer}",
    )


def escape_pointer(key: str) -> str:
    """A key as one step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
