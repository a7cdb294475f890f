"""How does the tree of a pattern become nodes of the IR?

Trees without assertions go over node by node (`Writer.plain`). Trees with assertions are first cut at them by
`assertions.py`, into plain trees joined with `&` and `~`. How one character is spelled is the caller's
choice: in a regex it is its UTF-8, inside a JSON string any of its JSON spellings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from maskwright.errors import LimitError
from maskwright.ir import Builder, Node
from maskwright.regex.ranges import EVERYTHING, NOTHING, Ranges, intersect
from maskwright.regex.syntax import ANY_TEXT, Chars, Choice, Repeat, Tree
from maskwright.regex.syntax import Sequence as SequenceTree

Spell = Callable[[Ranges], Node]
SpellText = Callable[[Sequence[int]], Node]

MAX_NESTING = 200  # one Python frame each; 800 are left to the caller under the default recursion limit
MAX_WORK = (
    50_000  # steps for a pattern with assertions, about 1.5 seconds; others take time linear in their length
)

MANY_WORDS = 8  # alternatives that are plain words, from which on they are one node
SURROGATES = (0xD800, 0xDFFF)


class Writer:
    """Writes trees into one builder, with the simplifications that need no look at the language.

    `spell` writes one character out of a set; `spell_text` a run of given characters (by default one after
    the other); `alphabet` is what a text may hold at all (by default every character).
    """

    __slots__ = (
        "_any_text",
        "_chars",
        "_memo",
        "_work",
        "alphabet",
        "builder",
        "empty",
        "epsilon",
        "is_utf8",
        "max_work",
        "spell",
        "spell_text",
    )

    def __init__(
        self,
        builder: Builder,
        spell: Spell | None = None,
        spell_text: SpellText | None = None,
        alphabet: Ranges = EVERYTHING,
        max_work: int = MAX_WORK,
    ) -> None:
        self.builder = builder
        self.is_utf8 = spell is None
        self.spell_text = _utf8_text(builder) if spell is None else spell_text
        self.spell = spell or builder.chars
        self.alphabet = alphabet
        self.max_work = max_work
        self.empty = builder.empty()
        self.epsilon = builder.literal(b"")
        self._chars: dict[Ranges, Node] = {}
        self._memo: dict[Tree, Node] = {}
        self._work = 0
        self._any_text: Node | None = None

    @property
    def any_text(self) -> Node:
        """Any text at all."""
        if self._any_text is None:
            self._any_text = self.plain(ANY_TEXT)
        return self._any_text

    # Trees without assertions

    def plain(self, tree: Tree) -> Node:
        """The node of a tree without assertions. Recurses; `check_nesting` comes first."""
        if type(tree) is Chars:
            return self.chars(tree.ranges)
        found = self._memo.get(tree)
        if found is None:
            self.count(1)
            if type(tree) is SequenceTree:
                found = self._sequence(tree.parts)
            elif type(tree) is Choice:
                found = self._word_list(tree.branches) or self.choice([self.plain(b) for b in tree.branches])
            else:
                assert isinstance(tree, Repeat)
                found = self.repeat(self.plain(tree.body), tree.low, tree.high)
            self._memo[tree] = found
        return found

    def chars(self, ranges: Ranges) -> Node:
        """One character of a set, cut down to the alphabet."""
        found = self._chars.get(ranges)
        if found is None:
            self.count(1)
            members = intersect(ranges, self.alphabet)
            if members and members[0][0] >= SURROGATES[0] and members[-1][1] <= SURROGATES[1]:
                members = NOTHING  # half a surrogate pair is in no UTF-8 text
            if not members:
                found = self.empty
            elif members[0][0] == members[-1][1] and self.spell_text is not None:
                found = self.spell_text((members[0][0],))
            else:
                found = self.spell(members)
            self._chars[ranges] = found
        return found

    def _sequence(self, parts: Sequence[Tree]) -> Node:
        """The parts in order, neighbouring single characters as one literal."""
        nodes: list[Node] = []
        run: list[int] = []
        for part in parts:
            if self.spell_text is not None and type(part) is Chars and _is_single(part.ranges, self.alphabet):
                run.append(part.ranges[0][0])
                continue
            if run:
                nodes.append(self._text(run))
                run = []
            nodes.append(self.plain(part))
        if run:
            nodes.append(self._text(run))
        return self.sequence(nodes)

    def _word_list(self, branches: Sequence[Tree]) -> Node | None:
        """Many branches that are all plain words, as one node; None if they are not."""
        if len(branches) < MANY_WORDS or not self.is_utf8:
            return None
        words = []
        for branch in branches:
            parts = branch.parts if isinstance(branch, SequenceTree) else (branch,)
            if not all(type(part) is Chars and _is_single(part.ranges, self.alphabet) for part in parts):
                return None
            words.append(
                "".join(chr(part.ranges[0][0]) for part in parts if isinstance(part, Chars)).encode()
            )
        return self.builder.literals(words)

    def _text(self, run: list[int]) -> Node:
        self.count(1)
        assert self.spell_text is not None
        return self.spell_text(run)

    # Nodes

    def sequence(self, nodes: Sequence[Node]) -> Node:
        """One after the other; nothing at all if one of them is the empty language."""
        if self.empty in nodes:
            return self.empty
        return self.builder.sequence([node for node in nodes if node != self.epsilon])

    def choice(self, nodes: Sequence[Node]) -> Node:
        """Any of them; the empty language adds nothing."""
        return self.builder.choice([node for node in nodes if node != self.empty])

    def repeat(self, node: Node, low: int, high: int | None) -> Node:
        """Repetition; of nothing at all, or of the empty text, it is simpler."""
        if node == self.epsilon or (node == self.empty and low == 0):
            return self.epsilon
        return self.empty if node == self.empty else self.builder.repeat(node, low, high)

    def intersection(self, *nodes: Node) -> Node:
        """In all of them; each is a set of texts over the alphabet."""
        if self.empty in nodes:
            return self.empty
        self.count(len(nodes))
        return self.builder.intersection([node for node in nodes if node != self.any_text] or [self.any_text])

    def outside(self, node: Node, others: Node) -> Node:
        """What is in `node` and not in `others`."""
        if node == self.empty or others == self.any_text:
            return self.empty
        if others == self.empty:
            return node
        self.count(2)
        return self.builder.intersection([node, self.builder.complement(others)])

    def count(self, work: int) -> None:
        """Pay for work; a `LimitError` past the ceiling."""
        self._work += work
        if self._work > self.max_work:
            raise LimitError(
                "the pattern takes too much work",
                limit="pattern_work",
                value=self.max_work,
                why="its assertions (anchors, word boundaries, lookaround) multiply the cases to tell apart",
                try_="fewer assertions, or a higher max_work",
            )


def check_nesting(tree: Tree) -> None:
    """Refuse a tree that is too deep to walk. Groups cost no depth; what repeats or chooses does."""
    if tree.depth > MAX_NESTING:
        raise LimitError(
            f"the pattern is nested {tree.depth} levels deep",
            limit="pattern_nesting",
            value=MAX_NESTING,
            why="groups within groups, each with an operator of its own, are walked one inside the other",
            try_="a flatter pattern",
        )


def _is_single(ranges: Ranges, alphabet: Ranges) -> bool:
    """Is it one character that a text may hold?"""
    if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
        return False
    code = ranges[0][0]
    if SURROGATES[0] <= code <= SURROGATES[1]:
        return False
    return alphabet is EVERYTHING or bool(intersect(ranges, alphabet))


def _utf8_text(builder: Builder) -> SpellText:
    def spell(codes: Sequence[int]) -> Node:
        return builder.literal("".join(map(chr, codes)).encode())

    return spell
