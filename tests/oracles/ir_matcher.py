"""Does a text belong to a grammar of regular nodes? Brzozowski derivatives over the IR: slow, and simple.

Terms are tuples, equal if they are the same: ("set", bits), ("chars", ranges, bytes so far), ("sequence", a,
b), ("choice", members), ("both", members), ("not", a), ("repeat", a, low, high). Rules, and so recursion, are
left out.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from typing import Any

from maskwright import ir

Term = tuple[Any, ...]

NONE: Term = ("choice", frozenset())
EMPTY: Term = ("empty",)


class IrMatcher:
    """The language of a grammar's root, as derivatives with a memory."""

    def __init__(self, grammar: ir.Grammar) -> None:
        self.root = _terms(grammar)[grammar.rules[grammar.root]]
        self._derivatives: dict[tuple[Term, int], Term] = {}
        self._nullable: dict[Term, bool] = {}

    def matches(self, text: bytes) -> bool:
        """Is the whole text in the language?"""
        term = self.root
        for byte in text:
            term = self.derivative(term, byte)
            if term == NONE:
                return False
        return self.nullable(term)

    def derivative(self, term: Term, byte: int) -> Term:
        """What may follow `byte`."""
        key = (term, byte)
        found = self._derivatives.get(key)
        if found is None:
            found = self._derivatives[key] = self._derivative(term, byte)
        return found

    def _derivative(self, term: Term, byte: int) -> Term:  # noqa: PLR0911 - dispatch
        kind = term[0]
        if kind == "empty":
            return NONE
        if kind == "set":
            return EMPTY if term[1] >> byte & 1 else NONE
        if kind == "literal":
            return literal(term[1][1:]) if term[1][0] == byte else NONE
        if kind == "literals":
            return words([word[1:] for word in term[1] if word and word[0] == byte])
        if kind == "chars":
            return _next_in_character(term[1], term[2] + bytes((byte,)))
        if kind == "sequence":
            first = sequence(self.derivative(term[1], byte), term[2])
            return choice(first, self.derivative(term[2], byte)) if self.nullable(term[1]) else first
        if kind == "choice":
            return choice(*(self.derivative(member, byte) for member in term[1]))
        if kind == "both":
            return both(*(self.derivative(member, byte) for member in term[1]))
        if kind == "not":
            return negation(self.derivative(term[1], byte))
        _, body, low, high = term
        rest = repeat(body, max(low - 1, 0), None if high is None else high - 1)
        return sequence(self.derivative(body, byte), rest)

    def nullable(self, term: Term) -> bool:
        """Is the empty text in the term?"""
        found = self._nullable.get(term)
        if found is None:
            found = self._nullable[term] = self._is_nullable(term)
        return found

    def _is_nullable(self, term: Term) -> bool:  # noqa: PLR0911 - dispatch
        kind = term[0]
        if kind in ("set", "chars", "literal"):
            return False
        if kind == "literals":
            return b"" in term[1]
        if kind == "sequence":
            return self.nullable(term[1]) and self.nullable(term[2])
        if kind == "choice":
            return any(map(self.nullable, term[1]))
        if kind == "both":
            return all(map(self.nullable, term[1]))
        if kind == "not":
            return not self.nullable(term[1])
        return kind == "empty" or term[2] == 0 or self.nullable(term[1])


def literal(text: bytes) -> Term:
    return ("literal", text) if text else EMPTY


def words(texts: list[bytes]) -> Term:
    return ("literals", frozenset(texts)) if texts else NONE


def sequence(first: Term, second: Term) -> Term:
    if NONE in (first, second):
        return NONE
    if first == EMPTY:
        return second
    if second == EMPTY:
        return first
    if first[0] == "sequence":
        return ("sequence", first[1], sequence(first[2], second))
    return ("sequence", first, second)


def choice(*members: Term) -> Term:
    flat = frozenset(
        part for member in members for part in (member[1] if member[0] == "choice" else (member,))
    )
    if ALL in flat:
        return ALL
    return next(iter(flat)) if len(flat) == 1 else ("choice", flat)


def both(*members: Term) -> Term:
    flat = frozenset(part for member in members for part in (member[1] if member[0] == "both" else (member,)))
    if NONE in flat:
        return NONE
    flat = flat - {ALL} or frozenset((ALL,))
    return next(iter(flat)) if len(flat) == 1 else ("both", flat)


def negation(term: Term) -> Term:
    return term[1] if term[0] == "not" else ("not", term)


def repeat(body: Term, low: int, high: int | None) -> Term:
    if high == 0 or body == EMPTY:
        return EMPTY
    if body == NONE:
        return NONE if low else EMPTY
    return body if (low, high) == (1, 1) else ("repeat", body, low, high)


ALL: Term = ("not", NONE)


def _next_in_character(ranges: tuple[tuple[int, int], ...], head: bytes) -> Term:
    """One more byte of a character; it is judged when it is complete."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        incomplete = error.reason == "unexpected end of data" and len(head) < 4
        return ("chars", ranges, head) if incomplete else NONE
    code = ord(text)
    place = bisect_right(ranges, (code, ir.MAX_CODE_POINT)) - 1
    return EMPTY if place >= 0 and ranges[place][0] <= code <= ranges[place][1] else NONE


def _terms(grammar: ir.Grammar) -> list[Term]:
    """The term of every node, in order."""
    words_ = struct.unpack(f"<{len(grammar.words) // 4}I", grammar.words)
    terms: list[Term] = []
    place = 0
    while place < len(words_):
        op, count = words_[place : place + 2]
        terms.append(_term(op, words_[place + 2 : place + 2 + count], terms, grammar.blob))
        place += 2 + count
    return terms


def _term(op: int, arguments: tuple[int, ...], terms: list[Term], blob: bytes) -> Term:  # noqa: PLR0911 - dispatch
    if op == ir.OP_EMPTY:
        return NONE
    if op == ir.OP_SEQUENCE:
        whole = EMPTY
        for node in reversed(arguments):
            whole = sequence(terms[node], whole)
        return whole
    if op == ir.OP_CHOICE:
        return choice(*(terms[node] for node in arguments))
    if op == ir.OP_INTERSECTION:
        return both(*(terms[node] for node in arguments))
    if op == ir.OP_COMPLEMENT:
        return negation(terms[arguments[0]])
    if op == ir.OP_REPEAT:
        body, low, high = arguments
        return repeat(terms[body], low, None if high == ir.UNBOUNDED else high)
    if op in (ir.OP_REFERENCE, ir.OP_SPECIAL):
        raise ValueError("only regular nodes are understood")
    text = blob[arguments[0] : arguments[0] + arguments[1]]
    if op == ir.OP_LITERAL:
        return literal(text)
    if op == ir.OP_BYTE_CLASS:
        return ("set", int.from_bytes(text, "little"))
    numbers = struct.unpack(f"<{len(text) // 4}I", text) if op == ir.OP_CHARS else ()
    if op == ir.OP_CHARS:
        return ("chars", tuple(zip(numbers[::2], numbers[1::2], strict=True)), b"")
    lengths = struct.unpack_from(f"<{arguments[3]}I", blob, arguments[2])
    texts = []
    start = 0
    for length in lengths:
        texts.append(text[start : start + length])
        start += length
    return words(texts)
