"""What may follow a place in a pattern, given the characters around it? A `Rest` for each kind of part."""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.errors import LimitError
from maskwright.ir import Node
from maskwright.regex.context import Context
from maskwright.regex.restrict import ending_in as tree_ending_in
from maskwright.regex.restrict import not_empty, starting_in
from maskwright.regex.syntax import Gap, Tree

MAX_CHAIN = 150  # parts with assertions in a row: each is up to two Python frames


class Rest:
    """What comes after a place in the pattern: `after(left, right)` is the texts that may follow."""

    __slots__ = ("_memo", "chain", "context", "length", "writer")

    def __init__(self, context: Context, chain: int = 0, length: int | None = None) -> None:
        self.length = length  # of every text in characters, if they are known to have one
        self.context = context
        self.writer = context.writer
        self.chain = chain
        self._memo: dict[tuple[int, int], Node] = {}
        if chain > MAX_CHAIN:
            raise LimitError(
                "the pattern has too many assertions in a row",
                limit="pattern_assertions",
                value=MAX_CHAIN,
                try_="fewer anchors, word boundaries and lookarounds",
            )

    def after(self, left: int, right: int) -> Node:
        """The texts that may follow a character of class `left` and begin with one of a class in `right`."""
        found = self._memo.get((left, right))
        if found is None:
            found = self._memo[left, right] = self._after(left, right)
        return found

    def all_after(self, left: int) -> Node:
        """The texts that may follow a character of class `left`."""
        return self.after(left, self.context.every)

    def _after(self, left: int, right: int) -> Node:
        raise NotImplementedError


class Stop(Rest):
    """The end of what is asked for, where the next character's class is in `mask` (or it is the edge)."""

    __slots__ = ("mask", "only_left")

    def __init__(self, context: Context, mask: int, only_left: int | None = None) -> None:
        super().__init__(context, length=0)
        self.mask = mask
        self.only_left = only_left

    def _after(self, left: int, right: int) -> Node:
        fits = self.mask & right and self.only_left in (None, left)
        return self.writer.epsilon if fits else self.writer.empty


class AnyRest(Rest):
    """Any text."""

    __slots__ = ()

    def _after(self, left: int, right: int) -> Node:
        if right == self.context.every:
            return self.writer.any_text
        first = self.writer.chars(self.context.ranges(right))
        rest = self.writer.sequence([first, self.writer.any_text])
        return self.writer.choice([rest, self.writer.epsilon] if right & self.context.edge_bit else [rest])


class PlainRest(Rest):
    """A tree without assertions, then another rest."""

    __slots__ = ("then", "tree")

    def __init__(self, tree: Tree, then: Rest) -> None:
        # A part that is never empty asks only for what was asked early; the recursion ends there.
        known = then.length is not None and tree.narrow == tree.wide
        length = tree.narrow + then.length if known and then.length is not None else None
        super().__init__(then.context, then.chain + 1 if tree.nullable else 0, length)
        self.tree = tree
        self.then = then

    def _after(self, left: int, right: int) -> Node:
        writer, context = self.writer, self.context
        lasts: dict[Node, int] = {}
        for last in range(context.edge):
            node = self.then.all_after(last)
            lasts[node] = lasts.get(node, 0) | 1 << last
        nothing = self.then.after(left, right) if self.tree.nullable else writer.empty
        if len(lasts) == 1 and right == context.every:
            (node,) = lasts
            if not self.tree.nullable or node == nothing:
                return writer.sequence([writer.plain(self.tree), node])
        branches = [nothing]
        for node, mask in lasts.items():
            if node != writer.empty:
                branches.append(writer.sequence([self._part(right, mask), node]))
        return writer.choice(branches)

    def _part(self, first: int, last: int) -> Node:
        """The non-empty texts of the tree, with the class of their first and last characters in two sets."""
        context = self.context
        inner = context.every ^ context.edge_bit
        tree: Tree | None = self.tree
        if first & inner != inner:
            tree = starting_in(self.tree, context.ranges(first & inner), self.writer.count)
        if tree is not None and last != inner:
            tree = tree_ending_in(tree, context.ranges(last), self.writer.count)
        elif tree is self.tree:
            tree = not_empty(tree, self.writer.count)
        return self.writer.empty if tree is None else self.writer.plain(tree)


class GapRest(Rest):
    """A gap, then another rest."""

    __slots__ = ("allowed", "then")

    def __init__(self, gap: Gap, then: Rest) -> None:
        context = then.context
        super().__init__(context, then.chain + 1, then.length)
        self.then = then
        self.allowed = [0] * (context.edge + 1)
        for before, behind in gap.pairs:
            lefts, rights = context.mask(before), context.mask(behind)
            for left in range(context.edge + 1):
                if lefts >> left & 1:
                    self.allowed[left] |= rights

    def _after(self, left: int, right: int) -> Node:
        right &= self.allowed[left]
        return self.then.after(left, right) if right else self.writer.empty


class LookRest(Rest):
    """A lookahead, then another rest."""

    __slots__ = ("negative", "seen", "then")

    def __init__(self, seen: Rest, negative: bool, then: Rest) -> None:
        super().__init__(then.context, then.chain + 1, then.length)
        self.seen = seen
        self.negative = negative
        self.then = then

    def _after(self, left: int, right: int) -> Node:
        writer = self.writer
        node = self.then.after(left, right)
        if node == writer.empty:
            return node
        if node == writer.epsilon:
            at_edge = self.seen.after(left, self.context.edge_bit) != writer.empty
            return writer.empty if at_edge == self.negative else node
        seen = self.seen.all_after(left)
        return writer.outside(node, seen) if self.negative else writer.intersection(node, seen)


class ChoiceRest(Rest):
    """Any of several rests."""

    __slots__ = ("branches",)

    def __init__(self, branches: Sequence[Rest]) -> None:
        lengths = {branch.length for branch in branches}
        super().__init__(
            branches[0].context,
            max(branch.chain for branch in branches),
            lengths.pop() if len(lengths) == 1 else None,
        )
        self.branches = branches

    def _after(self, left: int, right: int) -> Node:
        return self.writer.choice([branch.after(left, right) for branch in self.branches])


class JoinedRest(Rest):
    """A rest that stops before the end of the text, then texts that do not depend on what it ends with."""

    __slots__ = ("first", "texts")

    def __init__(self, first: Rest, texts: Node) -> None:
        super().__init__(first.context, first.chain + 1)
        self.first = first
        self.texts = texts

    def _after(self, left: int, right: int) -> Node:
        return self.writer.sequence([self.first.after(left, right), self.texts])


def ask_early(rest: Rest) -> None:
    """Compute the answers before anyone waits for them, so that a long pattern is not walked by recursion."""
    for left in range(rest.context.edge + 1):
        rest.all_after(left)
