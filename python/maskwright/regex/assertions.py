"""How are anchors, word boundaries and lookaround expressed with plain trees, `&` and `~`?

A tree is read from its end to its beginning. What comes after a place is a `Rest`: asked with the character class to
the left of the place, and with the classes allowed to its right, it gives the node of all texts that may follow. So

    a plain tree P before rest R     P split by its last character, where R's answer depends on it
    a gap before R                   R, asked with the right-hand classes that the gap allows
    (?=X) before R                   R & X.*
    (?!X) before R                   R & ~(X.*)
    a choice before R                each branch before R

Character classes are the parts into which the gaps' sets cut the alphabet; the text's edge is one more class. A loop
with gaps in its body is solved like a system of linear equations, one unknown for each pair of neighbours (Arden's
rule: V = M V + B has the solution M* B). A lookbehind for more than one character cuts the whole pattern in two:
everything to its left & .*X, then the rest. Lookaround in other places of a loop, and a lookbehind that overlaps a
lookahead, would need alternating automata and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from maskwright.errors import LimitError
from maskwright.ir import Node
from maskwright.regex.classes import NEWLINE
from maskwright.regex.lower import Writer
from maskwright.regex.ranges import EVERYTHING, NOTHING, Ranges, intersect, subtract, union
from maskwright.regex.restrict import not_empty, starting_in
from maskwright.regex.restrict import ending_in as tree_ending_in
from maskwright.regex.syntax import (
    AHEAD,
    ANY_TEXT,
    BEHIND,
    EMPTY,
    GAP,
    Chars,
    Choice,
    Gap,
    Look,
    Repeat,
    Side,
    Tree,
    choice,
    repeat,
    sequence,
)
from maskwright.regex.syntax import Sequence as SequenceTree

Refuse = Callable[[Look, str], Exception]

MAX_CLASSES = 12  # of characters that the gaps of one pattern tell apart
MAX_LOOP_CLASSES = 3  # the same, if a loop has gaps in it: (classes + 1) squared unknowns
MAX_COPIES = 200  # of a body with assertions that is repeated a bounded number of times
MAX_CHAIN = 150  # parts with assertions in a row: each is up to two Python frames
MAX_BRANCHES = 256  # a choice with lookbehinds in it is multiplied out


class Context:
    """What all rests of one pattern share: the writer, and the classes of characters that its gaps tell apart.

    A class is its place in `classes`; `edge`, one past the last, is the edge of the text. A set of them is an int with
    a bit for each; `every` has all bits.
    """

    __slots__ = ("classes", "edge", "edge_bit", "every", "refuse", "writer")

    def __init__(self, tree: Tree, writer: Writer, refuse: Refuse) -> None:
        self.writer = writer
        self.refuse = refuse
        self.classes = _partition(_gap_sets(tree), writer.alphabet)
        self.edge = len(self.classes)
        self.edge_bit = 1 << self.edge
        self.every = (self.edge_bit << 1) - 1

    def ranges(self, mask: int) -> Ranges:
        """The characters of the classes in a set."""
        return union(*(members for place, members in enumerate(self.classes) if mask >> place & 1), NOTHING)

    def mask(self, side: Side) -> int:
        """The classes that fit one side of a gap."""
        fitting = self.edge_bit if side.edge else 0
        for place, members in enumerate(self.classes):
            if intersect(members[:1], side.ranges):
                fitting |= 1 << place
        return fitting


def _gap_sets(tree: Tree) -> list[Ranges]:
    """The sets of characters that gaps of the tree look at, each once."""
    found: dict[Ranges, None] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Gap):
            found.update((side.ranges, None) for pair in node.pairs for side in pair)
        elif node.kinds:
            stack.extend(_children(node))
    return list(found)


def _children(tree: Tree) -> Sequence[Tree]:
    if isinstance(tree, SequenceTree):
        return tree.parts
    if isinstance(tree, Choice):
        return tree.branches
    return (tree.body,) if isinstance(tree, (Repeat, Look)) else ()


def _partition(sets: Iterable[Ranges], alphabet: Ranges) -> list[Ranges]:
    """Cut the alphabet into classes, so that each set is a union of classes."""
    classes = [alphabet]
    for members in sets:
        cut = (part for old in classes for part in (intersect(old, members), subtract(old, members)))
        classes = [part for part in cut if part]
        if len(classes) > MAX_CLASSES:
            raise LimitError(
                "the pattern's assertions tell too many classes of characters apart",
                limit="pattern_classes",
                value=MAX_CLASSES,
                why="each anchor, word boundary and lookaround for one character looks at a set of characters",
                try_="fewer different sets in lookaheads and lookbehinds",
            )
    return classes


# Rests


class Rest:
    """What comes after a place in the pattern. `after(left, right)`: the texts that may follow, given its neighbours."""

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
        """The texts that may follow a character of class `left`, their first character being of a class in `right`."""
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
    """The end of what is asked for, where the next character's class is in `mask` (at the end of a text: the edge)."""

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

    def __init__(self, look: Look, then: Rest) -> None:
        super().__init__(then.context, then.chain + 1, then.length)
        self.negative = look.negative
        self.seen = rest_of(look.body, AnyRest(then.context))
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


class TemperedRest(Rest):
    """`(?:(?!X)C)*` before texts of one length: X begins nowhere in it.

    With m characters after the loop, the places in the loop are those with more than m characters to come. So the
    texts are C* then the rest, & ~(.* (X.* & .{m+1,})).
    """

    __slots__ = ("loop", "seen", "then")

    def __init__(self, look: Look, body: Tree, then: Rest) -> None:
        super().__init__(then.context, then.chain + 1)
        self.seen = rest_of(look.body, AnyRest(then.context))
        self.loop = Repeat(body, 0, None)
        self.then = then
        context = self.context
        if then.length is None:
            raise context.refuse(look, "it is in a loop, and what follows the loop has no fixed length")
        if len({self._forbidden(left) for left in range(context.edge + 1)}) > 1:
            raise context.refuse(
                look, "it is in a loop, and what it looks for depends on the character before"
            )

    def _forbidden(self, left: int) -> Node:
        """The texts, not empty, that start with what must not come."""
        return self.seen.after(left, self.context.every ^ self.context.edge_bit)

    def _after(self, left: int, right: int) -> Node:
        writer = self.writer
        texts = PlainRest(self.loop, self.then).after(left, right)
        forbidden = self._forbidden(left)
        if self.then.length:
            longer = writer.repeat(writer.chars(EVERYTHING), self.then.length + 1, None)
            forbidden = writer.intersection(forbidden, longer)
        return writer.outside(texts, writer.sequence([writer.any_text, forbidden]))


class LoopRest(Rest):
    """Any number of times a body with gaps, then another rest; solved for each pair of neighbours."""

    __slots__ = ("solution",)

    def __init__(self, body: Tree, then: Rest) -> None:
        super().__init__(then.context, then.chain + 1)
        context = self.context
        if context.edge > MAX_LOOP_CLASSES:
            raise LimitError(
                "a loop of the pattern has assertions that tell too many classes of characters apart",
                limit="pattern_loop_classes",
                value=MAX_LOOP_CLASSES,
                try_="assertions outside the loop, or fewer kinds of them",
            )
        size = context.edge + 1
        places = [(left, right) for left in range(size) for right in range(size)]
        ends = [rest_of(body, Stop(context, 1 << right, left)) for left, right in places]
        matrix = [[end.after(left, 1 << right) for end in ends] for left, right in places]
        constant = [then.after(left, 1 << right) for left, right in places]
        self.solution = dict(zip(places, self._solve(matrix, constant), strict=True))

    def _solve(self, matrix: list[list[Node]], constant: list[Node]) -> list[Node]:
        """The least V with V = M V + B, by elimination."""
        writer = self.writer
        size = len(constant)
        for pivot in reversed(range(size)):
            row = matrix[pivot]
            again = writer.repeat(row[pivot], 0, None)
            matrix[pivot] = row = [
                writer.empty if place == pivot else writer.sequence([again, node])
                for place, node in enumerate(row)
            ]
            constant[pivot] = writer.sequence([again, constant[pivot]])
            for other in range(size):
                factor = matrix[other][pivot]
                if other != pivot and factor != writer.empty:
                    writer.count(size)
                    matrix[other] = [
                        writer.empty
                        if place == pivot
                        else writer.choice([old, writer.sequence([factor, new])])
                        for place, (old, new) in enumerate(zip(matrix[other], row, strict=True))
                    ]
                    constant[other] = writer.choice(
                        [constant[other], writer.sequence([factor, constant[pivot]])]
                    )
        return constant

    def _after(self, left: int, right: int) -> Node:
        rights = (place for place in range(self.context.edge + 1) if right >> place & 1)
        return self.writer.choice([self.solution[left, place] for place in rights])


# Trees to rests


def rest_of(tree: Tree, then: Rest) -> Rest:
    """The rest that begins with `tree` and goes on with `then`."""
    if not tree.kinds:
        return then if tree is EMPTY else PlainRest(tree, then)
    if isinstance(tree, SequenceTree):
        for part in reversed(list(_runs(tree.parts))):
            then = rest_of(part, then)
            if isinstance(then, PlainRest):
                _ask_early(then)
        return then
    if isinstance(tree, Choice):
        return ChoiceRest([rest_of(branch, then) for branch in _grouped(tree.branches)])
    if isinstance(tree, Repeat):
        return _loop(tree, then)
    if isinstance(tree, Gap):
        return GapRest(tree, then)
    assert isinstance(tree, Look)
    if not tree.ahead:
        raise then.context.refuse(tree, "a lookbehind for more than one character cannot stand here")
    return LookRest(tree, then)


def _ask_early(rest: Rest) -> None:
    """Compute the answers before anyone waits for them, so that a long pattern is not walked by recursion."""
    for left in range(rest.context.edge + 1):
        rest.all_after(left)


def _runs(parts: Sequence[Tree]) -> Iterator[Tree]:
    """The parts, with neighbours that have no assertions as one."""
    run: list[Tree] = []
    for part in parts:
        if part.kinds:
            if run:
                yield sequence(run)
                run = []
            yield part
        else:
            run.append(part)
    if run:
        yield sequence(run)


def _grouped(branches: Sequence[Tree]) -> Iterator[Tree]:
    """The branches, with all that have no assertions as one."""
    plain = [branch for branch in branches if not branch.kinds]
    if plain:
        yield choice(plain)
    yield from (branch for branch in branches if branch.kinds)


def _loop(tree: Repeat, then: Rest) -> Rest:
    """A repeat whose body has assertions: copies for its bounds, equations for what has no bound."""
    body, context = tree.body, then.context
    copies = tree.low if tree.high is None else tree.high
    if copies > MAX_COPIES:
        raise LimitError(
            f"a body with assertions is repeated {copies} times",
            limit="pattern_copies",
            value=MAX_COPIES,
            why="anchors, word boundaries and lookaround inside a repetition are written out for each time",
            try_="a smaller bound, no bound, or the assertions outside the repetition",
        )
    if tree.high is None:
        then = _star(body, then, context)
    else:
        done = then
        for _ in range(tree.high - tree.low):
            then = ChoiceRest([done, rest_of(body, then)])
            _ask_early(then)
    for _ in range(tree.low):
        then = rest_of(body, then)
        _ask_early(then)
    return then


def _star(body: Tree, then: Rest, context: Context) -> Rest:
    """Any number of times a body with assertions."""
    if body.kinds == GAP:
        return LoopRest(body, then)
    if isinstance(body, SequenceTree) and len(body.parts) == 2:
        first, second = body.parts
        if isinstance(first, Look) and first.ahead and first.negative and type(second) is Chars:
            return _tempered(first, second, then)
    raise context.refuse(_first_look(body), "it is inside a repetition without a bound")


def _tempered(look: Look, body: Tree, then: Rest) -> Rest:
    """`(?:(?!X)C)*`, what follows it brought to texts of one length where that is easy."""
    context, writer = then.context, then.writer
    answers = {then.all_after(left) for left in range(context.edge + 1)}
    if answers == {writer.any_text}:
        return then  # the loop need not take anything
    end = Stop(context, context.edge_bit)
    last_line = Chars(NEWLINE)
    if answers == {writer.plain(repeat(last_line, 0, 1))}:  # Python's `$` in a search
        ends = (end, PlainRest(last_line, end))
        return ChoiceRest([TemperedRest(look, body, one) for one in ends])
    return TemperedRest(look, body, then)


def _first_look(tree: Tree) -> Look:
    """A lookaround somewhere in the tree."""
    stack = [tree]
    while True:
        node = stack.pop()
        if isinstance(node, Look):
            return node
        stack.extend(part for part in reversed(_children(node)) if part.kinds & (AHEAD | BEHIND))


# Whole patterns


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
        stack.extend(part for part in _children(node) if part.kinds & BEHIND)


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
