"""How are anchors, word boundaries and lookaround expressed with plain trees, `&` and `~`?

A tree is read from its end to its beginning. What comes after a place is a `Rest`: asked with the character
class to the left of the place, and with the classes allowed to its right, it gives the node of all texts that
may follow. So

    a plain tree P before rest R     P split by its last character, where R's answer depends on it
    a gap before R                   R, asked with the right-hand classes that the gap allows
    (?=X) before R                   R & X.*
    (?!X) before R                   R & ~(X.*)
    a choice before R                each branch before R

Character classes are the parts into which the gaps' sets cut the alphabet; the text's edge is one more class.

A loop with gaps in its body is solved like a system of linear equations (loops.py). A lookbehind for more
than one character cuts the pattern in two: everything to its left & .*X, then the rest (whole.py). Lookaround
in other places of a loop, and a lookbehind that overlaps a lookahead, would need alternating automata and are
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from maskwright.regex.loops import loop
from maskwright.regex.rests import AnyRest, ChoiceRest, GapRest, LookRest, PlainRest, Rest, ask_early
from maskwright.regex.syntax import EMPTY, Choice, Gap, Look, Repeat, Tree, choice, sequence
from maskwright.regex.syntax import Sequence as SequenceTree


def rest_of(tree: Tree, then: Rest) -> Rest:
    """The rest that begins with `tree` and goes on with `then`."""
    if not tree.kinds:
        return then if tree is EMPTY else PlainRest(tree, then)
    if isinstance(tree, SequenceTree):
        for part in reversed(list(_runs(tree.parts))):
            then = rest_of(part, then)
            if isinstance(then, PlainRest):
                ask_early(then)
        return then
    if isinstance(tree, Choice):
        return ChoiceRest([rest_of(branch, then) for branch in _grouped(tree.branches)])
    if isinstance(tree, Repeat):
        return loop(tree, then, rest_of)
    if isinstance(tree, Gap):
        return GapRest(tree, then)
    assert isinstance(tree, Look)
    if not tree.ahead:
        raise then.context.refuse(tree, "a lookbehind for more than one character cannot stand here")
    return LookRest(rest_of(tree.body, AnyRest(then.context)), tree.negative, then)


def _runs(parts: Sequence[Tree]) -> Iterator[Tree]:
    """The parts, with neighbours that have no assertions as one; a gap said twice is said once."""
    run: list[Tree] = []
    before: Tree | None = None
    for part in parts:
        if part is before and isinstance(part, Gap):
            continue
        before = part
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
