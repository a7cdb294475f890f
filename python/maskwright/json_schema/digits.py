"""How is a set of numbers recognised digit by digit? An automaton over plain decimals without a sign.

The automaton is a product: the syntax (no superfluous zero, so many digits after the point), one comparison
for each bound, one remainder for each modulus. Comparisons work from left to right because a number of n
digits before the point is less than one of n + 1. Nearly all such automata are small and have no cycle but a
loop over digits, and become nodes; the others become right-linear rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd

from maskwright.ir import Builder, Node

__all__ = ["Automaton", "Magnitudes", "TooLarge", "build", "plain_decimal", "scale_of", "write"]

MAX_STATES = 4_000
"""Automaton states before equal ones are merged: 12 ms. A bound like 1.8e308 makes 1,000."""

MAX_CYCLIC = 300
"""States of an automaton with cycles, which all become rules."""

MAX_TREE = 20_000
"""Steps of an automaton without cycles. The engine copies a node for each place where it stands."""

MAX_EXCLUDED = 16
"""Excluded values that each become a comparison of the product."""

BELOW, EQUAL, ABOVE = 1, 2, 4
DIGITS = b"0123456789"

State = Hashable


class TooLarge(Exception):
    """The automaton has too many states to be written out."""


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Numbers that are not negative, as plain decimals with at most `fraction` digits after the point.

    Bounds belong to the set unless exclusive; `upper` None: without a bound; `fraction` None likewise, 0: no
    point. All are multiples of each of `multiples`, of none of `not_multiples`, and not in `excluded`.
    """

    lower: Fraction = Fraction(0)
    upper: Fraction | None = None
    lower_exclusive: bool = False
    upper_exclusive: bool = False
    multiples: tuple[Fraction, ...] = ()
    not_multiples: tuple[Fraction, ...] = ()
    excluded: tuple[Fraction, ...] = ()
    fraction: int | None = 0


@dataclass(frozen=True, slots=True)
class Tail:
    """`low` to `high` digits out of `digits`, then the end."""

    digits: bytes
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Automaton:
    """States are numbered, targets before sources but for loops, unless `cyclic`; the last one is the start.

    `edges[q]` lists (digits and point as bytes, target), `accepting[q]` says whether the number may end
    there. A state with a tail has no edges.
    """

    edges: tuple[tuple[tuple[bytes, int], ...], ...]
    accepting: tuple[bool, ...]
    tails: tuple[Tail | None, ...]
    cyclic: bool


class Comparison:
    """Where a number stands with regard to a bound: BELOW, EQUAL, ABOVE; `wanted` is a set of those."""

    __slots__ = ("fraction", "start", "wanted", "whole")

    def __init__(self, bound: Fraction, wanted: int) -> None:
        text = plain_decimal(bound)
        self.whole, _, self.fraction = text.partition(".")
        self.wanted = wanted
        self.start: State = (0, EQUAL)

    def digit(self, state: State, digit: str) -> State:
        """After one more digit before the point. A number longer than the bound is above it."""
        if state == ABOVE:
            return ABOVE if self.wanted & ABOVE else None
        place, sign = _pair(state)
        if place == len(self.whole):
            return ABOVE if self.wanted & ABOVE else None
        if sign == EQUAL and digit != self.whole[place]:
            sign = BELOW if digit < self.whole[place] else ABOVE
        return (place + 1, sign)

    def point(self, state: State) -> State:
        """After the point."""
        sign = self._sign(state)
        if sign == EQUAL:
            return (0,)
        return sign if sign & self.wanted else None

    def fractional(self, state: State, digit: str) -> State:
        """After one more digit after the point."""
        if not isinstance(state, tuple):
            return state
        (place,) = state
        wanted = self.fraction[place] if place < len(self.fraction) else "0"
        if digit == wanted:
            return (min(place + 1, len(self.fraction)),)
        sign = BELOW if digit < wanted else ABOVE
        return sign if sign & self.wanted else None

    def accepts(self, state: State, pointed: bool) -> bool:
        """May the number end here?"""
        if not pointed:
            sign = self._sign(state)
            return bool((BELOW if sign == EQUAL and self.fraction else sign) & self.wanted)
        if not isinstance(state, tuple):
            return True
        return bool((BELOW if state[0] < len(self.fraction) else EQUAL) & self.wanted)

    def left(self, state: State) -> bytes | None:
        """The digits that may follow any number of times, if that is all there is to say; after the point."""
        if not isinstance(state, tuple):
            return DIGITS
        if state[0] < len(self.fraction) or not self.wanted & EQUAL:
            return None
        return DIGITS if self.wanted & ABOVE else b"0"

    def _sign(self, state: State) -> int:
        """How the digits before the point compare, if they are all."""
        if state == ABOVE:
            return ABOVE
        place, sign = _pair(state)
        return int(sign) if place == len(self.whole) else BELOW


class Remainder:
    """A number modulo another. States: the remainder; after the point, that and the digits read.

    The state () is a number that is no multiple whatever follows. While n places are still to come that
    count, a remainder matters only modulo the modulus without the twos and fives that 10**n has: multiples of
    0.25 need no memory before the point.
    """

    __slots__ = ("moduli", "negative", "scale", "start")

    def __init__(self, step: Fraction, negative: bool) -> None:
        self.scale = scale_of(step)
        modulus = modulus_of(step)
        self.moduli = [modulus // gcd(modulus, 10**left) for left in range(self.scale, -1, -1)]
        self.negative = negative
        self.start: State = 0

    def digit(self, state: State, digit: str) -> State:
        """After one more digit before the point."""
        return (state * 10 + int(digit)) % self.moduli[0]  # type: ignore[operator]

    def point(self, state: State) -> State:
        """After the point."""
        return (state, 0)

    def fractional(self, state: State, digit: str) -> State:
        """After one more digit after the point. Past the last place that counts, zeros keep a multiple."""
        if state == ():
            return state
        rest, place = _pair(state)
        if place < self.scale:
            return ((rest * 10 + int(digit)) % self.moduli[place + 1], place + 1)
        if rest == 0 and digit == "0":
            return state
        return () if self.negative else None

    def accepts(self, state: State, pointed: bool) -> bool:
        """May the number end here?"""
        if state == ():
            return True
        rest = state[0] if isinstance(state, tuple) else state
        return (rest == 0) != self.negative

    def left(self, state: State) -> bytes | None:
        """The digits that may follow any number of times, if that is all there is to say; after the point."""
        if state == ():
            return DIGITS
        rest, place = _pair(state)
        return b"0" if place == self.scale and rest == 0 and not self.negative else None


def _pair(state: State) -> tuple[int, int]:
    """A state that is two numbers."""
    assert isinstance(state, tuple)
    return state


Condition = Comparison | Remainder
States = tuple[State, ...]
START, ZERO, WHOLE, POINT = "start", "zero", "whole", "point"


@lru_cache(2048)
def build(numbers: Magnitudes, max_states: int = MAX_STATES) -> Automaton | None:
    """The automaton of a set; None if the set is empty. Raises `TooLarge`.

    >>> len(build(Magnitudes(multiples=(Fraction(7),))).edges)  # the start, 0, and a remainder each
    9
    """
    explorer = _Explorer(numbers, max_states)
    explorer.explore()
    return _frozen(explorer.edges, explorer.accepting, (START, ()))


class _Explorer:
    """Explores the product of the syntax and the conditions from its start."""

    def __init__(self, numbers: Magnitudes, max_states: int) -> None:
        if numbers.fraction is None:
            raise ValueError("an automaton needs a bound on the digits after the point")
        self.places = numbers.fraction
        self.max_states = max_states
        self.conditions = _conditions(numbers)
        self.edges: dict[State, dict[str, State]] = {}
        self.accepting: set[State] = set()

    def explore(self) -> None:
        """Fill `edges` and `accepting`."""
        first: States = tuple(condition.start for condition in self.conditions)
        start = (START, ())
        self.edges[start] = {}
        waiting: list[State] = []
        for digit in "0123456789":
            self._go(start, digit, ZERO if digit == "0" else WHOLE, self._digits(first, digit), waiting)
        while waiting:
            self._leave(waiting.pop(), waiting)

    def _leave(self, state: State, waiting: list[State]) -> None:
        """All that may follow a state."""
        assert isinstance(state, tuple)
        place, states = state
        if place in (ZERO, WHOLE):
            if all(c.accepts(s, False) for c, s in zip(self.conditions, states, strict=True)):
                self.accepting.add(state)
            if self.places != 0:
                pointed = tuple(c.point(s) for c, s in zip(self.conditions, states, strict=True))
                self._go(state, ".", 0, pointed, waiting)
            if place == WHOLE:
                for digit in "0123456789":
                    self._go(state, digit, WHOLE, self._digits(states, digit), waiting)
            return
        if place and all(c.accepts(s, True) for c, s in zip(self.conditions, states, strict=True)):
            self.accepting.add(state)
        if place < self.places:
            for digit in "0123456789":
                after = tuple(c.fractional(s, digit) for c, s in zip(self.conditions, states, strict=True))
                self._go(state, digit, place + 1, after, waiting)

    def _digits(self, states: States, digit: str) -> States:
        return tuple(c.digit(s, digit) for c, s in zip(self.conditions, states, strict=True))

    def _go(self, source: State, symbol: str, place: str | int, states: States, waiting: list[State]) -> None:
        """An edge, unless a condition failed; its target waits if it is new."""
        if None in states:
            return
        target: State = self._tail(place, states) if isinstance(place, int) else (place, states)
        if target not in self.edges:
            self.edges[target] = {}
            if len(self.edges) > self.max_states:
                raise TooLarge
            if isinstance(target, Tail):
                self.accepting.add(target)
            else:
                waiting.append(target)
        self.edges[source][symbol] = target

    def _tail(self, place: int, states: States) -> State:
        """A state after the point, or the tail that says the same."""
        digits = DIGITS
        for condition, state in zip(self.conditions, states, strict=True):
            left = condition.left(state)
            if left is None:
                return (place, states)
            digits = min(digits, left, key=len)
        return Tail(digits, 0 if place else 1, self.places - place)


def _conditions(numbers: Magnitudes) -> list[Condition]:
    found: list[Condition] = []
    if numbers.lower > 0 or numbers.lower_exclusive:
        found.append(Comparison(numbers.lower, ABOVE if numbers.lower_exclusive else ABOVE | EQUAL))
    if numbers.upper is not None:
        found.append(Comparison(numbers.upper, BELOW if numbers.upper_exclusive else BELOW | EQUAL))
    found += [Comparison(value, BELOW | ABOVE) for value in numbers.excluded]
    found += [Remainder(step, False) for step in numbers.multiples]
    found += [Remainder(step, True) for step in numbers.not_multiples]
    return found


# From explored states to an automaton


def _frozen(edges: dict[State, dict[str, State]], accepting: set[State], start: State) -> Automaton | None:
    """Number the states that lead somewhere, targets first where that is possible."""
    live = _live(edges, accepting)
    if start not in live:
        return None
    edges = {
        state: {symbol: target for symbol, target in edges[state].items() if target in live} for state in live
    }
    order, cyclic = _targets_first(edges, start)
    if cyclic:
        edges, accepting, start = _merge_equal(edges, accepting, start)
        order, cyclic = _targets_first(edges, start)
    number = {state: place for place, state in enumerate(order)}
    rows = []
    for state in order:
        by_target: dict[int, bytearray] = {}
        for symbol, target in edges[state].items():
            by_target.setdefault(number[target], bytearray()).extend(symbol.encode())
        rows.append(tuple((bytes(symbols), target) for target, symbols in by_target.items()))
    tails = tuple(state if isinstance(state, Tail) else None for state in order)
    return Automaton(tuple(rows), tuple(state in accepting for state in order), tails, cyclic)


def _live(edges: dict[State, dict[str, State]], accepting: set[State]) -> set[State]:
    """The states from which a number can be finished."""
    sources: dict[State, list[State]] = {}
    for source, row in edges.items():
        for target in row.values():
            sources.setdefault(target, []).append(source)
    live = set(accepting)
    waiting = list(accepting)
    while waiting:
        for source in sources.get(waiting.pop(), ()):
            if source not in live:
                live.add(source)
                waiting.append(source)
    return live


def _targets_first(edges: dict[State, dict[str, State]], start: State) -> tuple[list[State], bool]:
    """The states reached from `start`, each after its targets; and is there a cycle that is no loop?"""
    order: list[State] = []
    cyclic = False
    entered = {start}
    done: set[State] = set()
    stack = [(start, iter(edges[start].values()))]
    while stack:
        state, targets = stack[-1]
        for target in targets:
            if target not in entered:
                entered.add(target)
                stack.append((target, iter(edges[target].values())))
                break
            if target not in done and target != state:
                cyclic = True
        else:
            stack.pop()
            done.add(state)
            order.append(state)
    return order, cyclic


def _merge_equal(
    edges: dict[State, dict[str, State]], accepting: set[State], start: State
) -> tuple[dict[State, dict[str, State]], set[State], State]:
    """Moore's refinement: one state of each class of states with the same futures."""
    block: dict[State, Hashable] = {
        state: state if isinstance(state, Tail) else state in accepting for state in edges
    }
    count = 0
    while True:
        names: dict[Hashable, int] = {}
        refined: dict[State, Hashable] = {}
        for state, row in edges.items():
            futures = (block[state], *((symbol, block[target]) for symbol, target in row.items()))
            refined[state] = names.setdefault(futures, len(names))
        if len(names) == count:
            break
        block, count = refined, len(names)
    chosen: dict[Hashable, State] = {}
    for state in edges:
        chosen.setdefault(refined[state], state)
    merged = {
        state: {symbol: chosen[refined[target]] for symbol, target in edges[state].items()}
        for state in chosen.values()
    }
    return merged, accepting & merged.keys(), chosen[refined[start]]


# Into the IR


def write(builder: Builder, automaton: Automaton) -> Node:
    """The node of an automaton. Raises `TooLarge`."""
    if len(automaton.edges) > MAX_CYCLIC if automaton.cyclic else _tree_size(automaton) > MAX_TREE:
        raise TooLarge
    if automaton.cyclic:
        return _as_rules(builder, automaton)
    nodes: list[Node] = []
    for state in range(len(automaton.edges)):
        nodes.append(_state(builder, automaton, state, nodes))
    return nodes[-1]


def _tree_size(automaton: Automaton) -> int:
    """How many steps there are if no state is shared."""
    sizes: list[int] = []
    for state, row in enumerate(automaton.edges):
        sizes.append(1 + sum(sizes[target] for _, target in row if target != state))
    return sizes[-1]


def _as_rules(builder: Builder, automaton: Automaton) -> Node:
    """One rule a state, each a digit and the next rule."""
    rules = [builder.rule("number") for _ in automaton.edges]
    references = [builder.reference(rule) for rule in rules]
    for state, rule in enumerate(rules):
        builder.define(rule, _state(builder, automaton, state, references))
    return references[-1]


def _state(builder: Builder, automaton: Automaton, state: int, targets: Sequence[Node]) -> Node:
    """What may follow a state."""
    tail = automaton.tails[state]
    if tail is not None:
        return builder.repeat(builder.byte_class(tail.digits), tail.low, tail.high)
    loop: Node | None = None
    branches = []
    for symbols, target in automaton.edges[state]:
        step = builder.byte_class(symbols)
        if target == state:
            loop = builder.repeat(step, 0, None)
        else:
            branches.append(builder.sequence([step, targets[target]]))
    node = _ending(builder, branches, automaton.accepting[state])
    return node if loop is None else builder.sequence([loop, node])


def _ending(builder: Builder, branches: Sequence[Node], accepting: bool) -> Node:
    """The branches, or nothing more where the number may end."""
    if not branches:
        return builder.literal(b"") if accepting else builder.empty()
    node = builder.choice(branches)
    return builder.optional(node) if accepting else node


# Decimals as text


def scale_of(value: Fraction) -> int:
    """How many digits after the point a decimal needs. Raises `ValueError` for a fraction that is no decimal.

    >>> scale_of(Fraction(5, 4)), scale_of(Fraction(20))
    (2, 0)
    """
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest //= 2
        twos += 1
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    if rest != 1:
        raise ValueError(f"not a decimal: {value}")
    return max(twos, fives)


def modulus_of(step: Fraction) -> int:
    """The digits of a decimal, without its point: 25 of 0.25."""
    return int(step * 10 ** scale_of(step))


def plain_decimal(value: Fraction) -> str:
    """The shortest plain decimal of a number.

    >>> plain_decimal(Fraction(-5, 4)), plain_decimal(Fraction(10**21))
    ('-1.25', '1000000000000000000000')
    """
    scale = scale_of(value)
    digits = str(abs(value.numerator) * (10**scale // value.denominator)).zfill(scale + 1)
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits
