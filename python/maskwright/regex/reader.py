"""What do the parsers of all dialects share? A place in the pattern, the open groups, the errors.

No parser recurses: open groups are a list, so nesting is bounded by memory alone.
"""

from __future__ import annotations

from maskwright.errors import PatternError
from maskwright.regex.syntax import Chars, Tree, choice, sequence

MAX_COUNT = 0xFFFF_FFFF  # the IR's counts are below it, and so are Python's

NOTHING_YET = 0  # what the last item of a sequence was, as far as a quantifier is concerned
ATOM = 1
ASSERTION = 2
QUANTIFIED = 3


_ASCII = [Chars(((code, code),)) for code in range(0x80)]


def single(code: int) -> Chars:
    """The tree of one given character."""
    return _ASCII[code] if code < 0x80 else Chars(((code, code),))


class Group:
    """An open group: what was read of it so far, and what it will be once closed."""

    __slots__ = ("branches", "flags", "items", "kind", "last", "start")

    def __init__(self, kind: str, start: int, flags: int = 0) -> None:
        self.kind = kind
        self.start = start
        self.flags = flags
        self.branches: list[Tree] = []
        self.items: list[Tree] = []
        self.last = NOTHING_YET

    def add(self, tree: Tree, last: int = ATOM) -> None:
        """Append an item."""
        self.items.append(tree)
        self.last = last

    def next_branch(self) -> None:
        """A `|` was read."""
        self.branches.append(sequence(self.items))
        self.items = []
        self.last = NOTHING_YET

    def add_characters(self, characters: str) -> None:
        """Append a run of given characters."""
        self.items.extend([single(ord(character)) for character in characters])
        self.last = ATOM

    def tree(self) -> Tree:
        """All branches together."""
        return choice([*self.branches, sequence(self.items)]) if self.branches else sequence(self.items)


class Reader:
    """A pattern and a place in it. `shown` is what errors draw."""

    __slots__ = ("end", "names", "place", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = len(text)
        self.place = 0
        self.names: set[str] = set()

    def error(
        self,
        what: str,
        offset: int,
        *,
        why: str | None = None,
        try_: str | None = None,
        code: str | None = None,
    ) -> PatternError:
        """An error at a place in the pattern."""
        return PatternError(what, pattern=self.text, offset=offset, why=why, try_=try_, code=code)

    def unsupported(self, what: str, offset: int, why: str, try_: str, name: str) -> PatternError:
        """An error for something that the dialect has and that cannot be enforced."""
        return self.error(what, offset, why=why, try_=try_, code=f"pattern.unsupported.{name}")

    def no_backreference(self, offset: int) -> PatternError:
        """Back-references are refused everywhere."""
        return self.unsupported(
            "cannot enforce a back-reference",
            offset,
            "a text that repeats what a group matched is not a regular language",
            "spell the repeated part out, or list its values as alternatives",
            "backreference",
        )

    def take_if(self, expected: str) -> bool:
        """Step over `expected` if it comes next."""
        if self.text.startswith(expected, self.place):
            self.place += len(expected)
            return True
        return False

    def take_digits(self, digits: str, most: int) -> str:
        """Step over up to `most` characters out of `digits`."""
        start = self.place
        stop = min(self.end, start + most)
        while self.place < stop and self.text[self.place] in digits:
            self.place += 1
        return self.text[start : self.place]

    def count(self, digits: str, offset: int) -> int:
        """A repetition count; too many digits would be slow to read, and no count that large is held."""
        if (len(digits) > 10 and digits.lstrip("0")[10:]) or int(digits.lstrip("0") or "0") >= MAX_COUNT:
            raise self.error("the repetition count is too large", offset, why=f"counts are below {MAX_COUNT}")
        return int(digits.lstrip("0") or "0")

    def declare(self, name: str, offset: int) -> None:
        """A group's name was read; no two groups share one."""
        if name in self.names:
            raise self.error(f"the group name {name!r} is used twice", offset)
        self.names.add(name)
