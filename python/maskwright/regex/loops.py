"""How is a repetition with assertions in its body expressed? By copies, equations, or what it avoids."""

from __future__ import annotations

from collections.abc import Callable

from maskwright.errors import LimitError
from maskwright.ir import Node
from maskwright.regex.classes import NEWLINE
from maskwright.regex.ranges import EVERYTHING
from maskwright.regex.rests import AnyRest, ChoiceRest, JoinedRest, PlainRest, Rest, Stop, ask_early
from maskwright.regex.syntax import (
    AHEAD,
    BEHIND,
    GAP,
    LAST_LINE_END,
    Chars,
    Look,
    Repeat,
    Tree,
    children,
    choice,
    sequence,
)
from maskwright.regex.syntax import Sequence as SequenceTree

Build = Callable[[Tree, Rest], Rest]  # how a tree before a rest becomes a rest

MAX_LOOP_CLASSES = 3  # the same, if a loop has gaps in it: (classes + 1) squared unknowns
MAX_COPIES = 200  # of a body with assertions that is repeated a bounded number of times


def loop(tree: Repeat, then: Rest, build: Build) -> Rest:
    """A repeat whose body has assertions: copies for its bounds, equations for what has no bound."""
    body = tree.body
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
        then = _star(body, then, build)
    else:
        done = then
        for _ in range(tree.high - tree.low):
            then = ChoiceRest([done, build(body, then)])
            ask_early(then)
    for _ in range(tree.low):
        then = build(body, then)
        ask_early(then)
    return then


def _star(body: Tree, then: Rest, build: Build) -> Rest:
    """Any number of times a body with assertions."""
    if body.kinds == GAP:
        return LoopRest(body, then, build)
    if isinstance(body, SequenceTree) and type(body.parts[-1]) is Chars:
        looks = [part for part in body.parts[:-1] if isinstance(part, Look) and part.ahead and part.negative]
        if len(looks) == len(body.parts) - 1:
            bodies = choice([look.body for look in looks])
            both = Look(bodies, ahead=True, negative=True, offset=looks[0].offset)
            return _tempered(both, body.parts[-1], then, build)
    raise then.context.refuse(_first_look(body), "it is inside a repetition without a bound")


def _tempered(look: Look, body: Tree, then: Rest, build: Build) -> Rest:
    """`(?:(?!X)C)*`, what follows it brought to texts of one length where that is easy."""
    context, writer = then.context, then.writer
    seen = build(look.body, AnyRest(context))
    answers = {then.all_after(left) for left in range(context.edge + 1)}
    if answers == {writer.any_text}:
        return then  # the loop need not take anything
    end = Stop(context, context.edge_bit)
    if answers == {writer.epsilon}:
        return TemperedRest(look, seen, body, end)
    last_line = Chars(NEWLINE)
    if answers == {writer.plain(LAST_LINE_END.parts[0])}:  # Python's `$` in a search
        ends = (end, PlainRest(last_line, end))
        return ChoiceRest([TemperedRest(look, seen, body, one) for one in ends])
    if then.length is None and not look.body.kinds:
        # What X may reach past the loop is decided by the fixed number of characters that come first there.
        head, tail = _fixed_head(then, look.body.wide - 1)
        answers = {tail.all_after(left) for left in range(context.edge + 1)}
        if head is not None and len(answers) == 1:
            ended = TemperedRest(look, seen, body, PlainRest(head, Stop(context, context.every)))
            return JoinedRest(ended, answers.pop())
    return TemperedRest(look, seen, body, then)


def _fixed_head(rest: Rest, wanted: int) -> tuple[Tree | None, Rest]:
    """Parts of fixed length that begin a rest, at least `wanted` characters together; and what is left."""
    head: list[Tree] = []
    while wanted > 0 and isinstance(rest, PlainRest):
        parts = list(rest.tree.parts) if isinstance(rest.tree, SequenceTree) else [rest.tree]
        if parts[0].narrow != parts[0].wide:
            break
        wanted -= parts[0].narrow
        head.append(parts[0])
        rest = PlainRest(sequence(parts[1:]), rest.then) if len(parts) > 1 else rest.then
    return (sequence(head) if wanted <= 0 and head else None), rest


def _first_look(tree: Tree) -> Look:
    """A lookaround somewhere in the tree."""
    stack = [tree]
    while True:
        node = stack.pop()
        if isinstance(node, Look):
            return node
        stack.extend(part for part in reversed(children(node)) if part.kinds & (AHEAD | BEHIND))


class TemperedRest(Rest):
    """`(?:(?!X)C)*` before texts of one length: X begins nowhere in it.

    With m characters after the loop, the places in the loop are those with more than m characters to come. So
    the texts are C* then the rest, & ~(.* (X.* & .{m+1,})).
    """

    __slots__ = ("loop", "seen", "then")

    def __init__(self, look: Look, seen: Rest, body: Tree, then: Rest) -> None:
        super().__init__(then.context, then.chain + 1)
        self.seen = seen
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
    """Any number of times a body with gaps, then another rest.

    There is one unknown for each pair of neighbours. Arden's rule: the least V with V = M V + B is M* B.
    """

    __slots__ = ("solution",)

    def __init__(self, body: Tree, then: Rest, build: Build) -> None:
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
        ends = [build(body, Stop(context, 1 << right, left)) for left, right in places]
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
