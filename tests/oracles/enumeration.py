"""All texts of a grammar up to a length, over a small alphabet: each IR node as a set of texts.

The least fixpoint, computed by rounds. Nothing could be simpler, or slower: it is the oracle of the Earley
oracle.
"""

# ruff: noqa: PLR0911, PLR0917 - dispatch on the kind of node
from __future__ import annotations

from itertools import product

from oracles.earley import UNBOUNDED, Oracle, special_symbol

Text = tuple[int, ...]


def texts(grammar: object, alphabet: list[int], length: int) -> set[Text]:
    """The texts of at most `length` symbols, each symbol from `alphabet`."""
    reader = Oracle(grammar)  # for its decoding of the record only
    every = {text for n in range(length + 1) for text in product(alphabet, repeat=n)}
    every_bytes = {text for text in every if all(symbol < 256 for symbol in text)}
    values: list[set[Text]] = [set() for _ in reader.ops]
    while True:
        before = [len(value) for value in values]
        for node, op in enumerate(reader.ops):
            values[node] = _value(reader, node, op, values, every, every_bytes, length)
        if [len(value) for value in values] == before:
            return values[reader.root]


def _value(
    reader: Oracle,
    node: int,
    op: str,
    values: list[set[Text]],
    every: set[Text],
    every_bytes: set[Text],
    length: int,
) -> set[Text]:
    args = reader.args[node]
    if op in ("empty", "literal", "byte_class", "chars", "literals", "special"):
        return _leaf(reader, op, args, every)
    if op == "sequence":
        result: set[Text] = {()}
        for part in args:
            result = _joined(result, values[part], length)
        return result
    if op == "choice":
        return set().union(*(values[part] for part in args))
    if op == "repeat":
        return _repeated(values[args[0]], args[1], args[2], length)
    if op == "reference":
        return values[reader.rules[args[0]]]
    if op == "intersection":
        return set.intersection(*(values[part] for part in args))
    return every_bytes - values[args[0]]


def _leaf(reader: Oracle, op: str, args: tuple[int, ...], every: set[Text]) -> set[Text]:
    blob = reader.blob
    if op == "empty":
        return set()
    if op == "literal":
        return {tuple(blob[args[0] : args[0] + args[1]])} & every
    if op == "byte_class":
        return {(b,) for b in range(256) if blob[args[0] + b // 8] >> b % 8 & 1} & every
    if op == "special":
        return {(special_symbol(args[0]),)} & every
    if op == "chars":
        return {text for text in every if _is_char(text, blob[args[0] : args[0] + args[1]])}
    words, at = set(), args[0]
    for number in range(args[3]):
        size = int.from_bytes(blob[args[2] + 4 * number : args[2] + 4 * number + 4], "little")
        words.add(tuple(blob[at : at + size]))
        at += size
    return words & every


def _is_char(text: Text, ranges: bytes) -> bool:
    """Python's own UTF-8 decoder says which character this is."""
    if not text or max(text) > 255:
        return False
    try:
        character = bytes(text).decode()
    except UnicodeDecodeError:
        return False
    bounds = [int.from_bytes(ranges[at : at + 4], "little") for at in range(0, len(ranges), 4)]
    return len(character) == 1 and any(
        low <= ord(character) <= high for low, high in zip(bounds[::2], bounds[1::2], strict=True)
    )


def _joined(first: set[Text], rest: set[Text], length: int) -> set[Text]:
    return {a + b for a in first for b in rest if len(a) + len(b) <= length}


def _repeated(body: set[Text], low: int, high: int, length: int) -> set[Text]:
    """Unrolled: past `low` and `length` times, only empty bodies could follow."""
    most = low + length if high == UNBOUNDED else min(high, low + length)
    result: set[Text] = set()
    power: set[Text] = {()}
    for count in range(most + 1):
        if count >= low:
            result |= power
        power = _joined(power, body, length)
    return result
