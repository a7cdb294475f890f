"""What does a parsed pattern look like? Four kinds of node, and one walk that does not recurse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bytes:
    """One byte out of a set (see `byte_sets`)."""

    allowed: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sequence:
    """The parts one after the other; no parts is the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Choice:
    """One of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Repeat:
    """The body `low` to `high` times, None being without bound; `offset` is the quantifier's place."""

    body: Node
    low: int
    high: int | None
    offset: int


Node = Bytes | Sequence | Choice | Repeat


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly under `node`."""
    match node:
        case Sequence(parts) | Choice(parts):
            return parts
        case Repeat():
            return (node.body,)
    return ()


def postorder(root: Node) -> Iterator[Node]:
    """Every node after its children, left to right; any depth, since the stack is a list."""
    stack = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)))
