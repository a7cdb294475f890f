"""How does a whole pattern with assertions become a node? At once, or cut in two at each long lookbehind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from maskwright.errors import LimitError
from maskwright.ir import Node
from maskwright.regex.assertions import rest_of
from maskwright.regex.context import Context, Refuse
from maskwright.regex.loops import MAX_COPIES
from maskwright.regex.lower import Writer
from maskwright.regex.rests import Rest, Stop
from maskwright.regex.syntax import (
    AHEAD,
    ANY_TEXT,
    BEHIND,
    Choice,
    Gap,
    Look,
    Repeat,
    Tree,
    children,
    sequence,
)
from maskwright.regex.syntax import Sequence as SequenceTree

MAX_BRANCHES = 256  # a choice with lookbehinds in it is multiplied out


def lower_with_assertions(tree: Tree, writer: Writer, refuse: Refuse) -> Node:
    """All texts that match the tree from their beginning to their end."""
    context = Context(tree, writer, refuse)
    return _whole(tree, Stop(context, context.edge_bit))


def _whole(tree: Tree, end: Stop) -> Node:
    """The texts of the tree that begin at the beginning, and stop where `end` says."""
    if not tree.kinds & BEHIND:
        return rest_of(tree, end).all_after(end.context.edge)
    return end.writer.choice([_cut(parts, end) for parts in _multiplied_out(tree, end)])


def _cut(parts: list[Tree], end: Stop) -> Node:
    """A sequence with long lookbehinds in it: cut at the last of them."""
    context, writer = end.context, end.writer
    parts = _without_idle_start(parts, context)
    wanted, parts = _leading_looks(parts, end)
    places = [place for place, part in enumerate(parts) if isinstance(part, Look) and not part.ahead]
    if not places:
        node = _whole(sequence(parts), end) if not sequence(parts).kinds & BEHIND else None
        if node is None:
            raise context.refuse(_deep_look_behind(parts), "it is inside a lookahead that text precedes")
        return wanted(node)
    left, look, then = parts[: places[-1]], parts[places[-1]], parts[places[-1] + 1 :]
    assert isinstance(look, Look)
    for part in left:
        if part.kinds & AHEAD:
            raise context.refuse(look, "it looks back over a place where a lookahead looks forward")
    if look.body.kinds & AHEAD:
        raise context.refuse(look, "there is a lookahead inside")
    rest = rest_of(sequence(then), end)
    befores: dict[Node, int] = {}
    for right_class in range(context.edge + 1):
        stop = Stop(context, 1 << right_class)
        before = _whole(sequence(left), stop)
        seen = _whole(sequence([ANY_TEXT, look.body]), stop)
        before = writer.outside(before, seen) if look.negative else writer.intersection(before, seen)
        befores[before] = befores.get(before, 0) | 1 << right_class
    return wanted(
        writer.choice([node for before, mask in befores.items() for node in _joined(before, rest, mask)])
    )


def _joined(before: Node, rest: Rest, right: int) -> Iterator[Node]:
    """The left texts, followed by what the rest allows after their last character."""
    context, writer = rest.context, rest.writer
    lasts: dict[Node, int] = {}
    for last in range(context.edge + 1):
        node = rest.after(last, right)
        lasts[node] = lasts.get(node, 0) | 1 << last
    for node, mask in lasts.items():
        if mask == context.every:
            yield writer.sequence([before, node])
        elif node != writer.empty:
            ending = [
                writer.sequence([writer.any_text, writer.chars(context.ranges(mask & ~context.edge_bit))])
            ]
            if mask & context.edge_bit:
                ending.append(writer.epsilon)
            yield writer.sequence([writer.intersection(before, writer.choice(ending)), node])


def _without_idle_start(parts: list[Tree], context: Context) -> list[Tree]:
    """Drop a leading `.*` that an anchor right after it keeps empty."""
    while len(parts) > 1 and parts[0] is ANY_TEXT and isinstance(parts[1], Gap):
        if any(context.mask(left) & ~context.edge_bit for left, _ in parts[1].pairs):
            break
        parts = parts[1:]
    return parts


def _leading_looks(parts: list[Tree], end: Stop) -> tuple[Callable[[Node], Node], list[Tree]]:
    """Take out the lookaheads that stand at the very beginning: they speak of the whole text."""
    taken = []
    for part in parts:
        if isinstance(part, Look) and part.ahead:
            taken.append(part)
        elif not isinstance(part, Gap):
            break
    seen = [(look.negative, _whole(sequence([look.body, ANY_TEXT]), end)) for look in taken]

    def wanted(node: Node) -> Node:
        for negative, texts in seen:
            node = end.writer.outside(node, texts) if negative else end.writer.intersection(node, texts)
        return node

    return wanted, [part for part in parts if part not in taken]


def _deep_look_behind(parts: Sequence[Tree]) -> Look:
    """A lookbehind inside one of the parts."""
    stack = [part for part in parts if part.kinds & BEHIND]
    while True:
        node = stack.pop()
        if isinstance(node, Look) and not node.ahead:
            return node
        stack.extend(part for part in children(node) if part.kinds & BEHIND)


def _multiplied_out(tree: Tree, end: Stop) -> list[list[Tree]]:
    """The tree as a choice of sequences in which no lookbehind hides inside a choice or a bounded repeat."""
    if isinstance(tree, SequenceTree) and not tree.kinds & BEHIND:
        return [[part for child in tree.parts for part in _multiplied_out(child, end)[0]]]
    if not tree.kinds & BEHIND or isinstance(tree, Look):
        return [[tree]]
    if isinstance(tree, Choice):
        found = [parts for branch in tree.branches for parts in _multiplied_out(branch, end)]
    elif isinstance(tree, Repeat):
        if tree.high is None or tree.high > MAX_COPIES:
            raise end.context.refuse(_deep_look_behind([tree]), "it is inside a repetition")
        body = _multiplied_out(tree.body, end)
        found = []
        for count in range(tree.low, tree.high + 1):
            found.extend(_products([body] * count))
    else:
        assert isinstance(tree, SequenceTree)
        found = _products([_multiplied_out(part, end) for part in tree.parts])
    return _few(found)


def _products(factors: Sequence[list[list[Tree]]]) -> list[list[Tree]]:
    """Every way to take one sequence of each factor."""
    found: list[list[Tree]] = [[]]
    for branches in factors:
        found = _few([[*left, *right] for left in found for right in branches])
    return found


def _few(found: list[list[Tree]]) -> list[list[Tree]]:
    if len(found) > MAX_BRANCHES:
        raise LimitError(
            "the pattern's choices around lookbehinds multiply to too many cases",
            limit="pattern_branches",
            value=MAX_BRANCHES,
            try_="lookbehinds outside the choices",
        )
    return found
