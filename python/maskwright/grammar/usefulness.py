"""Which rules of a grammar are useless? Those that nothing reaches, and those that no text can finish.

Both are reported as notes beside the grammar; a root rule that no text can finish is an error. One pass over
the IR and a work list: linear in the grammar, whatever the order of its rules, for the grammar is read as
Horn clauses (Dowling and Gallier, 1984). Regular parts count as productive: whether an intersection has a
text is settled when the engine compiles it.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from maskwright.errors import GrammarError
from maskwright.ir import OP_CHOICE, OP_EMPTY, OP_REFERENCE, OP_REPEAT, OP_SEQUENCE, Grammar, Rule


@dataclass(frozen=True, slots=True)
class Note:
    """A useless rule. `kind` is "unreachable" or "unproductive"; `line` and `column` count from 1."""

    kind: str
    rule: str
    line: int | None
    column: int | None

    def __str__(self) -> str:
        what = (
            "is never used"
            if self.kind == "unreachable"
            else "matches no text, because every way needs itself"
        )
        return f"line {self.line}, column {self.column}: rule {self.rule!r} {what}"


@dataclass(frozen=True, slots=True)
class ParsedGrammar:
    """What a text gives: the `grammar`, ready for the engine, and `notes` on useless rules, in text order."""

    grammar: Grammar
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule is defined, counted from 1."""

    line: int
    column: int


def report(grammar: Grammar, places: Callable[[], Mapping[Rule, Place]]) -> ParsedGrammar:
    """Attach the notes on those rules that have a place; `GrammarError` if the root matches no text at all.

    `places` is called only where there is something to say.
    """
    nodes = _decode(grammar)
    finished = _productive(grammar, nodes)
    if not finished[grammar.root]:
        place = places().get(grammar.root)
        raise GrammarError(
            "the grammar matches no text",
            line=place.line if place else None,
            column=place.column if place else None,
            rule=grammar.names[grammar.root],
            why="every way to finish the root rule needs a rule that cannot be finished",
            try_="give the recursion an alternative that ends",
            code="grammar.empty",
        )
    reached = _reachable(grammar, nodes)
    if len(reached) == len(grammar.rules) and all(finished):
        return ParsedGrammar(grammar, ())
    found = [
        (place, "unproductive" if not finished[rule] else "unreachable", rule)
        for rule, place in places().items()
        if not finished[rule] or rule not in reached
    ]
    found.sort(key=lambda row: (row[0].line, row[0].column))
    notes = tuple(Note(kind, grammar.names[rule], place.line, place.column) for place, kind, rule in found)
    return ParsedGrammar(grammar, notes)


def _decode(grammar: Grammar) -> list[tuple[int, list[int]]]:
    """The records of the IR as (op, arguments)."""
    flat = array("I", grammar.words)
    if sys.byteorder != "little":  # pragma: no cover - the IR is little-endian on every machine
        flat.byteswap()
    words = flat.tolist()
    nodes = []
    at, end = 0, len(words)
    while at < end:
        after = at + 2 + words[at + 1]
        nodes.append((words[at], words[at + 2 : after]))
        at = after
    return nodes


def _productive(grammar: Grammar, nodes: list[tuple[int, list[int]]]) -> list[bool]:
    """Which rules have a text that ends."""
    done = [False] * len(nodes)
    missing: dict[int, int] = {}  # how many more parts a pending node waits for
    waiting: dict[int, list[int]] = {}  # part -> the nodes that wait for it
    callers: dict[Rule, list[int]] = {}
    for node, (op, arguments) in enumerate(nodes):
        if op == OP_REFERENCE:
            callers.setdefault(arguments[0], []).append(node)
            continue
        parts = _awaited(op, arguments, done)
        if parts is None:
            done[node] = op != OP_EMPTY
            continue
        missing[node] = 1 if op == OP_CHOICE else len(parts)
        for part in parts:
            waiting.setdefault(part, []).append(node)
    defines: dict[int, list[Rule]] = {}
    for rule, body in enumerate(grammar.rules):
        defines.setdefault(body, []).append(rule)
    finished = [False] * len(grammar.rules)
    ready = [body for body in defines if done[body]]
    while ready:
        node = ready.pop()
        fresh = [caller for rule in defines.get(node, ()) for caller in callers.get(rule, ())]
        for rule in defines.get(node, ()):
            finished[rule] = True
        for parent in waiting.get(node, ()):
            missing[parent] -= 1
            if missing[parent] == 0:
                fresh.append(parent)
        for other in fresh:
            if not done[other]:
                done[other] = True
                ready.append(other)
    return finished


def _awaited(op: int, arguments: list[int], done: list[bool]) -> set[int] | None:
    """The parts that a node waits for; None where there is nothing to wait for."""
    if op == OP_SEQUENCE:
        return {part for part in arguments if not done[part]} or None
    if op == OP_CHOICE:
        return None if any(done[part] for part in arguments) else set(arguments)
    if op == OP_REPEAT:
        return None if arguments[1] == 0 or done[arguments[0]] else {arguments[0]}
    return None


def _reachable(grammar: Grammar, nodes: list[tuple[int, list[int]]]) -> set[Rule]:
    """The rules that the root needs, itself included."""
    reached = {grammar.root}
    seen = {grammar.rules[grammar.root]}
    stack = list(seen)
    while stack:
        op, arguments = nodes[stack.pop()]
        if op == OP_REFERENCE:
            reached.add(arguments[0])
            parts = [grammar.rules[arguments[0]]]
        elif op == OP_REPEAT:
            parts = arguments[:1]
        elif op in (OP_SEQUENCE, OP_CHOICE):
            parts = arguments
        else:
            continue  # a leaf, or a regular part, which calls no rule of the text
        for part in parts:
            if part not in seen:
                seen.add(part)
                stack.append(part)
    return reached
