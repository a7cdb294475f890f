"""Where can a regular expression go after one more byte? Brzozowski derivatives, for `&` and `~` in the
Earley oracle.

An expression is a tuple, kept once (`Terms`), so that equal languages written alike are the same object and
the derivatives of one expression are finitely many. Small and slow; shares nothing with the engine.
"""

# ruff: noqa: PLR0911 - dispatch on the kind of node
from __future__ import annotations

from functools import reduce

Term = tuple

EMPTY: Term = ("empty",)
EPSILON: Term = ("epsilon",)
ANYTHING: Term = ("not", EMPTY)
STATE_LIMIT = 20_000


def of_bytes(members: int) -> Term:
    """One byte of a set, given as 256 bits."""
    return ("set", members) if members else EMPTY


def of_text(text: bytes) -> Term:
    return reduce(lambda rest, byte: sequence(of_bytes(1 << byte), rest), reversed(text), EPSILON)


def sequence(first: Term, rest: Term) -> Term:
    if EMPTY in (first, rest):
        return EMPTY
    if first == EPSILON:
        return rest
    if rest == EPSILON:
        return first
    if first[0] == "seq":  # to the right, so that (a b) c and a (b c) are one
        return ("seq", first[1], sequence(first[2], rest))
    return ("seq", first, rest)


def choice(branches: set[Term]) -> Term:
    flat: set[Term] = set()
    for branch in branches:
        flat.update(branch[1] if branch[0] == "or" else (branch,))
    flat.discard(EMPTY)
    if ANYTHING in flat:
        return ANYTHING
    return EMPTY if not flat else next(iter(flat)) if len(flat) == 1 else ("or", frozenset(flat))


def intersection(parts: set[Term]) -> Term:
    flat: set[Term] = set()
    for part in parts:
        flat.update(part[1] if part[0] == "and" else (part,))
    flat.discard(ANYTHING)
    if EMPTY in flat:
        return EMPTY
    return ANYTHING if not flat else next(iter(flat)) if len(flat) == 1 else ("and", frozenset(flat))


def complement(body: Term) -> Term:
    return body[1] if body[0] == "not" else ("not", body)


def repeat(body: Term, low: int, high: int | None) -> Term:
    if high == 0 or body == EPSILON:
        return EPSILON
    if body == EMPTY:
        return EMPTY if low else EPSILON
    if nullable(body):
        low = 0
    return body if (low, high) == (1, 1) else ("repeat", body, low, high)


def nullable(term: Term) -> bool:
    """Is the empty text in it?"""
    kind = term[0]
    if kind in ("empty", "set"):
        return False
    if kind == "epsilon":
        return True
    if kind == "seq":
        return nullable(term[1]) and nullable(term[2])
    if kind == "or":
        return any(map(nullable, term[1]))
    if kind == "and":
        return all(map(nullable, term[1]))
    if kind == "not":
        return not nullable(term[1])
    return term[2] == 0 or nullable(term[1])


class Terms:
    """Derivatives and liveness, worked out once."""

    def __init__(self) -> None:
        self._after: dict[tuple[Term, int], Term] = {}
        self._live: dict[Term, bool] = {}

    def after(self, term: Term, byte: int) -> Term:
        """What may follow `byte`."""
        key = (term, byte)
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = self._derive(term, byte)
        return found

    def _derive(self, term: Term, byte: int) -> Term:
        kind = term[0]
        if kind in ("empty", "epsilon"):
            return EMPTY
        if kind == "set":
            return EPSILON if term[1] >> byte & 1 else EMPTY
        if kind == "seq":
            first = sequence(self.after(term[1], byte), term[2])
            return choice({first, self.after(term[2], byte)}) if nullable(term[1]) else first
        if kind == "or":
            return choice({self.after(branch, byte) for branch in term[1]})
        if kind == "and":
            return intersection({self.after(part, byte) for part in term[1]})
        if kind == "not":
            return complement(self.after(term[1], byte))
        _, body, low, high = term
        rest = repeat(body, max(low - 1, 0), None if high is None else high - 1)
        return sequence(self.after(body, byte), rest)

    def live(self, term: Term) -> bool:
        """Is there any text in it? By search; one byte of each class of bytes that it tells apart."""
        found = self._live.get(term)
        if found is not None:
            return found
        seen = {term}
        stack = [term]
        answer = False
        while stack and not answer:
            here = stack.pop()
            if nullable(here) or self._live.get(here):
                answer = True
            for byte in representatives(here):
                there = self.after(here, byte)
                if there not in seen and self._live.get(there) is not False:
                    if len(seen) > STATE_LIMIT:
                        raise RuntimeError("too many derivatives for the oracle")
                    seen.add(there)
                    stack.append(there)
        if answer:
            self._live[term] = True
        else:
            self._live.update(dict.fromkeys(seen, False))
        return answer


def representatives(term: Term) -> list[int]:
    """A byte of each class: bytes in the same sets of the expression have the same derivatives."""
    sets: set[int] = set()
    stack = [term]
    while stack:
        here = stack.pop()
        if here[0] == "set":
            sets.add(here[1])
        elif here[0] in ("or", "and"):
            stack.extend(here[1])
        else:
            stack.extend(part for part in here[1:] if isinstance(part, tuple))
    classes: dict[tuple[int, ...], int] = {}
    ordered = sorted(sets)
    for byte in range(256):
        classes.setdefault(tuple(members >> byte & 1 for members in ordered), byte)
    return list(classes.values())
