"""Which token do `<|name|>` and `<[123]>` stand for?"""

from __future__ import annotations

from collections.abc import Mapping

MAX_TOKEN_ID = 0xFFFF_FFFE


def token_id(spelling: str, special: Mapping[str, int]) -> int | None:
    """The id of a special token, by number, by its spelling or by the name between the bars; None if unknown.

    >>> token_id("<[7]>", {}), token_id("<|end|>", {"<|end|>": 5}), token_id("<|end|>", {"end": 6})
    (7, 5, 6)
    """
    if spelling.startswith("<[") and spelling.endswith("]>"):
        number = spelling[2:-2]
        # The length is checked first: int() of a hostile run of digits raises past 4,300 of them.
        return int(number) if len(number) <= 10 and int(number) <= MAX_TOKEN_ID else None
    found = special.get(spelling)
    if found is None and spelling.startswith("<|") and spelling.endswith("|>"):
        found = special.get(spelling[2:-2])
    return found


def known_names(special: Mapping[str, int], most: int = 8) -> str:
    """The names that would have worked, for an error message."""
    if not special:
        return "this vocabulary names no special token"
    names = sorted(special)[:most]
    return "known names: " + ", ".join(names) + (", ..." if len(special) > most else "")
