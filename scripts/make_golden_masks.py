"""What must the masks be? Makes tests/data/masks_golden.json from derivatives, without automata.

    python scripts/make_golden_masks.py            write the file
    python scripts/make_golden_masks.py --check    exit 1 if the file would change

The derivative of an expression by a byte is an expression for what may follow that byte (Brzozowski,
Journal of the ACM, 1964). A token is allowed if the derivative by its bytes is not the empty language, and
the text is complete if what is left matches the empty text. Patterns are read by Python's own `re` parser.
Nothing of the package is imported, so nothing that is wrong there can be wrong here too.
"""

from __future__ import annotations

import json
import re._constants as op  # type: ignore[import-not-found]
import re._parser as python_re  # type: ignore[import-not-found]
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
CASES = DATA / "reference" / "mask_cases.json"
GOLDEN = DATA / "masks_golden.json"
STEPS = 24  # tokens on a path at most

# An expression is a tuple, equal exactly if it is written alike: ("none",), ("empty",), ("byte", frozenset),
# ("then", left, right), ("or", frozenset of expressions), ("times", body, least, most or None).
Expression = tuple[Any, ...]
NONE: Expression = ("none",)
EMPTY: Expression = ("empty",)
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
CATEGORIES = {
    op.CATEGORY_DIGIT: frozenset(b"0123456789"),
    op.CATEGORY_SPACE: frozenset(b" \t\n\r\f\v"),
    op.CATEGORY_WORD: WORD,
    op.CATEGORY_NOT_DIGIT: frozenset(range(256)) - frozenset(b"0123456789"),
    op.CATEGORY_NOT_SPACE: frozenset(range(256)) - frozenset(b" \t\n\r\f\v"),
    op.CATEGORY_NOT_WORD: frozenset(range(256)) - WORD,
}


def one_of(allowed: Iterable[int]) -> Expression:
    """One byte out of some; the empty language if there are none."""
    members = frozenset(allowed)
    return ("byte", members) if members else NONE


def then(left: Expression, right: Expression) -> Expression:
    """One after the other."""
    if NONE in (left, right):
        return NONE
    if left == EMPTY:
        return right
    return left if right == EMPTY else ("then", left, right)


def either(parts: Iterable[Expression]) -> Expression:
    """Any of the parts: nested ones flattened and empty languages dropped, so that derivatives stay few."""
    flat: set[Expression] = set()
    for part in parts:
        flat |= part[1] if part[0] == "or" else {part}
    flat.discard(NONE)
    if not flat:
        return NONE
    return next(iter(flat)) if len(flat) == 1 else ("or", frozenset(flat))


def times(body: Expression, least: int, most: int | None) -> Expression:
    """The body `least` to `most` times."""
    if most == 0 or body == EMPTY:
        return EMPTY
    if body == NONE:
        return EMPTY if least == 0 else NONE
    return body if (least, most) == (1, 1) else ("times", body, least, most)


@cache
def nullable(e: Expression) -> bool:
    """Whether the empty text matches."""
    match e[0]:
        case "then":
            return nullable(e[1]) and nullable(e[2])
        case "or":
            return any(nullable(part) for part in e[1])
        case "times":
            return e[2] == 0 or nullable(e[1])
    return bool(e == EMPTY)


@cache
def derivative(e: Expression, byte: int) -> Expression:
    """What may follow `byte`."""
    match e[0]:
        case "byte":
            return EMPTY if byte in e[1] else NONE
        case "then":
            first = then(derivative(e[1], byte), e[2])
            return either((first, derivative(e[2], byte))) if nullable(e[1]) else first
        case "or":
            return either(derivative(part, byte) for part in e[1])
        case "times":
            _, body, least, most = e
            rest = times(body, max(least - 1, 0), None if most is None else most - 1)
            return then(derivative(body, byte), rest)
    return NONE


def after(e: Expression, text: bytes) -> Expression:
    """What may follow `text`."""
    for byte in text:
        if e == NONE:
            break
        e = derivative(e, byte)
    return e


def read(pattern: bytes) -> Expression:
    """The expression of a pattern, as Python reads it."""
    return _sequence(python_re.parse(pattern))


def _sequence(items: Iterable[tuple[Any, Any]]) -> Expression:
    e = EMPTY
    for item in reversed(list(items)):
        e = then(_item(*item), e)
    return e


def _item(kind: Any, value: Any) -> Expression:  # noqa: PLR0911 - dispatch
    if kind is op.LITERAL:
        return one_of([value])
    if kind is op.NOT_LITERAL:
        return one_of(set(range(256)) - {value})
    if kind is op.ANY:
        return one_of(set(range(256)) - {10})
    if kind is op.IN:
        return one_of(_members(value))
    if kind is op.BRANCH:
        return either(_sequence(branch) for branch in value[1])
    if kind is op.SUBPATTERN:
        return _sequence(value[3])
    if kind is op.MAX_REPEAT:
        least, most, body = value
        return times(_sequence(body), least, None if most is op.MAXREPEAT else most)
    raise ValueError(f"{kind} in a golden pattern")


def _members(items: list[tuple[Any, Any]]) -> frozenset[int]:
    members: set[int] = set()
    for kind, value in items:
        if kind is op.LITERAL:
            members.add(value)
        elif kind is op.RANGE:
            members.update(range(value[0], value[1] + 1))
        elif kind is op.CATEGORY:
            members |= CATEGORIES[value]
    return frozenset(range(256)) - members if items[0][0] is op.NEGATE else frozenset(members)


def allowed_tokens(e: Expression, tokens: list[bytes | None], eos_ids: list[int]) -> list[bool]:
    """The mask after which `e` is left."""
    mask = [bool(token) and after(e, token or b"") != NONE for token in tokens]
    for token_id in eos_ids:
        mask[token_id] = nullable(e)
    return mask


def record_path(e: Expression, vocabulary: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Walk at random along allowed tokens, noting the mask and the completeness at each place."""
    tokens = [None if token is None else bytes.fromhex(token) for token in vocabulary["tokens"]]
    path: dict[str, Any] = {"tokens": [], "masks": [], "complete": []}
    while True:
        mask = allowed_tokens(e, tokens, vocabulary["eos"])
        path["masks"].append(pack(mask))
        path["complete"].append(nullable(e))
        # The end is no step here: it is checked as a bit of the mask.
        choices = [i for i, allowed in enumerate(mask) if allowed and i not in vocabulary["eos"]]
        if not choices or len(path["tokens"]) == STEPS:
            return path
        # Long tokens first: at random nearly all choices would be single bytes.
        longest = sorted(choices, key=lambda i: -len(tokens[i] or b""))[:4]
        token_id = rng.choice(longest if rng.random() < 0.5 else choices)
        path["tokens"].append(token_id)
        e = after(e, tokens[token_id] or b"")


def pack(mask: list[bool]) -> str:
    """A mask as hexadecimal bytes: token i is bit i % 8 of byte i // 8."""
    packed = bytearray(-(-len(mask) // 8))
    for i, allowed in enumerate(mask):
        packed[i // 8] |= allowed << (i % 8)
    return packed.hex()


def spelled(token: Any) -> str | None:
    """A token of the cases file as hexadecimal: {"hex": ...}, a text (its UTF-8), or null if special."""
    if token is None:
        return None
    return str(token["hex"]) if isinstance(token, dict) else token.encode().hex()


def make_vocabulary(given: dict[str, Any]) -> dict[str, Any]:
    """The tokens of a vocabulary, after all 256 single bytes if it asks for them."""
    single = [f"{byte:02x}" for byte in range(256)] if given["all_bytes"] else []
    return {"tokens": single + [spelled(token) for token in given["tokens"]], "eos": given["eos"]}


def make_golden() -> str:
    """The text of the golden file; the same on every run."""
    cases = json.loads(CASES.read_text())
    vocabularies = {name: make_vocabulary(given) for name, given in cases["vocabularies"].items()}
    golden = []
    for number, case in enumerate(cases["cases"]):
        e = read(case["pattern"].encode("latin-1"))
        rng = Random(number)
        paths = [record_path(e, vocabularies[case["vocabulary"]], rng) for _ in range(case["paths"])]
        golden.append({**case, "paths": paths})
    lines = ",\n".join(json.dumps(case) for case in golden)
    return f'{{"vocabularies": {json.dumps(vocabularies)},\n"cases": [\n{lines}\n]}}\n'


def main() -> int:
    """Write the golden file, or with --check compare it."""
    text = make_golden()
    if "--check" in sys.argv[1:]:
        same = GOLDEN.read_text() == text
        print("unchanged" if same else f"{GOLDEN.name} would change")
        return 0 if same else 1
    GOLDEN.write_text(text)
    print(f"wrote {GOLDEN.name}: {len(text)} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
