"""Which strings does a schema allow? Sets of strings, closed under intersection and complement.

A `StringSet` is a conjunction: patterns, formats, a length and finite sets, some of them negated. It speaks
of *values*; `node` writes its JSON spellings, all conditions as one intersection of regular languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from maskwright.errors import LimitError
from maskwright.ir import Builder, Fragment, Node
from maskwright.json_schema import formats
from maskwright.json_schema.guess import guess_empty
from maskwright.json_schema.probe import PROBE_LIMITS, Probe
from maskwright.json_schema.spelling import Spelling, Style
from maskwright.limits import Limits
from maskwright.regex import lower_regex, read_regex
from maskwright.regex.syntax import TEXT_END, TEXT_START, Sequence

__all__ = ["ANY_STRING", "StringSet"]


@dataclass(slots=True, unsafe_hash=True)  # frozen, it takes 2.0 µs to make one instead of 0.2
class StringSet:
    """The strings that meet every condition. Equal fields, equal set; lengths count code points.

    patterns, not_patterns   ECMA-262, found somewhere in the string, or nowhere
    min_length, max_length   `max_length` None: without a bound
    formats, not_formats     names that `maskwright.json_schema.formats` knows
    allowed                  None, or the only values there are
    excluded                 values that are not in the set

    >>> short = StringSet(patterns=("^a",), max_length=3)
    >>> short.contains("abc"), short.contains("abcd"), short.contains("bc")
    (True, False, False)
    >>> [part.contains("bc") for part in short.complement()]
    [True, False]
    """

    patterns: tuple[str, ...] = ()
    not_patterns: tuple[str, ...] = ()
    min_length: int = 0
    max_length: int | None = None
    formats: tuple[str, ...] = ()
    not_formats: tuple[str, ...] = ()
    allowed: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()

    # The algebra

    def intersect(self, other: StringSet) -> StringSet:
        """The strings that are in both sets."""
        if self == ANY_STRING:
            return other
        if other == ANY_STRING:
            return self
        allowed = self.allowed
        if other.allowed is not None:
            allowed = other.allowed if allowed is None else allowed & other.allowed
        return StringSet(
            _merged(self.patterns, other.patterns),
            _merged(self.not_patterns, other.not_patterns),
            max(self.min_length, other.min_length),
            _smaller(self.max_length, other.max_length),
            _merged(self.formats, other.formats),
            _merged(self.not_formats, other.not_formats),
            allowed,
            self.excluded | other.excluded,
        )

    def excludes(self, other: StringSet) -> bool:
        """Whether both are lists of strings without one in common."""
        mine, others = self.allowed, other.allowed
        return mine is not None and others is not None and mine.isdisjoint(others)

    def complement(self) -> list[StringSet]:
        """The strings that are not in the set: the union of the sets returned, each breaks one condition."""
        parts = [StringSet(not_patterns=(pattern,)) for pattern in self.patterns]
        parts += [StringSet(patterns=(pattern,)) for pattern in self.not_patterns]
        if self.min_length > 0:
            parts.append(StringSet(max_length=self.min_length - 1))
        if self.max_length is not None:
            parts.append(StringSet(min_length=self.max_length + 1))
        parts += [StringSet(not_formats=(name,)) for name in self.formats]
        parts += [StringSet(formats=(name,)) for name in self.not_formats]
        if self.allowed is not None:
            parts.append(StringSet(excluded=self.allowed))
        if self.excluded:
            parts.append(StringSet(allowed=self.excluded))
        return parts

    @property
    def is_free(self) -> bool:
        """Does nothing but a length shape the strings?"""
        return not (
            self.patterns
            or self.not_patterns
            or self.formats
            or self.not_formats
            or self.excluded
            or self.allowed is not None
        )

    # Questions about values

    def contains(self, text: str, limits: Limits = PROBE_LIMITS) -> bool:
        """Is the string in the set? Raises `PatternError` and `LimitError` as `node` does."""
        if len(text) < self.min_length or (self.max_length is not None and len(text) > self.max_length):
            return False
        if text in self.excluded or (self.allowed is not None and text not in self.allowed):
            return False
        return self.is_free or self._meets_languages(text, limits)

    def _meets_languages(self, text: str, limits: Limits) -> bool:
        """Does the string meet the patterns and formats?"""
        return (
            all(_found(pattern, text, limits) for pattern in self.patterns)
            and not any(_found(pattern, text, limits) for pattern in self.not_patterns)
            and all(formats.matches(name, text) for name in self.formats)
            and not any(formats.matches(name, text) for name in self.not_formats)
        )

    def values(self) -> list[str] | None:
        """The members of a set with `allowed`, sorted; None for a set without."""
        if self.allowed is None:
            return None
        return sorted(text for text in self.allowed if self.contains(text))

    def few_values(self, most: int, limits: Limits = PROBE_LIMITS) -> list[str] | None:
        """All strings of the set, sorted; None if they are more than `most`, or long.

        Raises `LimitError` where finding out takes more than `limits`.
        """
        if self.allowed is not None:
            found = self.values()
            return found if found is not None and len(found) <= most else None
        if self.is_free:
            return [""] if self.max_length == 0 else None
        builder = Builder()
        texts = Probe(builder, self.body(Spelling(builder)), limits).texts(most)
        return None if texts is None else sorted(text.decode() for text in texts)

    def is_empty(self, limits: Limits = PROBE_LIMITS) -> bool:
        """Is there no such string? Raises `LimitError` where finding out takes more than `limits`."""
        if self.max_length is not None and self.min_length > self.max_length:
            return True
        if self.allowed is not None:
            return not self.values()
        if self.is_free or (len(self.formats) == 1 and self == StringSet(formats=self.formats)):
            return False
        guessed = guess_empty(self, limits)
        found = _is_empty(self, limits) if guessed is None else guessed
        if isinstance(found, LimitError):
            raise found.with_traceback(None)
        return found

    # Spelling

    def node(self, spelling: Spelling) -> Node:
        """The JSON spellings of the strings, quotes and all.

        Raises `PatternError` for a pattern that is none or cannot be enforced, `LimitError` for one that
        takes too much.
        """
        values = self.values()
        if values is not None:
            return spelling.literals(values)
        return spelling.string(self.body(spelling))

    def body(self, spelling: Spelling) -> Node:
        """The same without the quotes."""
        builder = spelling.builder
        values = self.values()
        if values is not None:
            return builder.choice([spelling.text(text) for text in values])
        if self.max_length is not None and self.min_length > self.max_length:
            return builder.empty()
        if self.is_free:
            return builder.repeat(spelling.free_char(), self.min_length, self.max_length)
        parts = [_lowered(spelling, pattern) for pattern in self.patterns]
        parts += [formats.node(name, spelling) for name in self.formats]
        length = self._length_left()
        if length != (0, None) or not parts:
            parts.append(builder.repeat(spelling.any_char(), *length))
        parts += [builder.complement(_lowered(spelling, pattern)) for pattern in self.not_patterns]
        parts += [builder.complement(_with_format(spelling, name)) for name in self.not_formats]
        if self.excluded:
            parts.append(builder.complement(_texts(spelling, self.excluded)))
        return builder.intersection(parts)

    def _length_left(self) -> tuple[int, int | None]:
        """The length bounds that patterns and formats do not see to by themselves."""
        low, high = self.min_length, self.max_length
        for name in self.formats:
            high = _smaller(high, formats.max_length(name))
        if low == 0 and high is None:
            return low, high
        for narrow, wide in [*map(_widths, self.patterns), *map(formats.widths, self.formats)]:
            low = 0 if narrow >= low else low
            high = None if high is not None and wide is not None and wide <= high else high
        return low, high


ANY_STRING = StringSet()


def _merged(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(left + right)) if left and right else left or right


def _smaller(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


def _texts(spelling: Spelling, texts: frozenset[str]) -> Node:
    return spelling.builder.choice([spelling.text(text) for text in sorted(texts)])


@lru_cache(1024)
def _is_empty(strings: StringSet, limits: Limits) -> bool | LimitError:
    """The error is an answer too: it takes the longest to come to, 5 ms."""
    builder = Builder()
    try:
        return Probe(builder, strings.body(Spelling(builder)), limits).is_empty
    except LimitError as error:
        return error


@lru_cache(256)
def _search(pattern: str, limits: Limits) -> Probe:
    builder = Builder()
    return Probe(builder, lower_regex(builder, pattern, "ecma", search=True), limits)


@lru_cache(4096)
def _found(pattern: str, text: str, limits: Limits) -> bool:
    """Is the pattern found in the text? Half a surrogate pair is in no text that could be written."""
    try:
        return _search(pattern, limits).contains(text.encode())
    except UnicodeEncodeError:
        return False


def _lowered(spelling: Spelling, pattern: str) -> Node:
    """The spellings of the strings in which an ECMA-262 pattern is found."""
    return spelling.remember(
        ("pattern", pattern), lambda: spelling.builder.graft(_fragment(pattern, spelling.style))
    )


@lru_cache(1024)
def _fragment(pattern: str, style: Style) -> Fragment:
    """Lowered once in a process: families of schemas have the same patterns again and again."""
    spelling = Spelling(Builder(), style)
    node = lower_regex(
        spelling.builder, pattern, "ecma", search=True, spell=spelling.char, spell_text=spelling.codes
    )
    return spelling.builder.fragment(spelling.builder.deterministic(node))


def _with_format(spelling: Spelling, name: str) -> Node:
    """The spellings of every string that has a format."""
    node = formats.node(name, spelling, exact=True)
    longest = formats.max_length(name)
    if longest is None:
        return node
    builder = spelling.builder
    return builder.intersection([node, builder.repeat(spelling.any_char(), 0, longest)])


@lru_cache(1024)
def _widths(pattern: str) -> tuple[int, int | None]:
    """The least and the greatest length of a string that has the pattern; None: there is no greatest."""
    tree = read_regex(pattern, "ecma")
    parts = tree.parts if isinstance(tree, Sequence) else ()
    if parts and parts[0] is TEXT_START and parts[-1] is TEXT_END:
        return tree.narrow, tree.wide
    return tree.narrow, None
