"""Is a text in a format that remembers? Answered by reading the whole text at once: members, items,
decimals, indents.

Nothing here knows of prefixes, automata or the IR. A format is a plain record; `accepts` reads a finished
text with `re`, `json` and `fractions`; `texts` lists all texts of a small format, so that whole masks can
be predicted.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations, product

KEY = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\u[0-9a-f]{4}|\\")*"')
PLAIN_KEY = re.compile(rb'"[^"\\\x00-\x1f]*"')
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e-?[0-9])?")
DECIMAL = re.compile(rb"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?")
SEPARATORS = {"tight": re.compile(rb","), "loose": re.compile(rb" ?, ?")}
SEPARATOR_TEXTS = {"tight": (b",",), "loose": (b",", b" ,", b", ", b" , ")}
ONES = re.compile(rb":\[1(?:,1)*\]")
TAIL_TEXTS = {"one": (b":1",), "two": (b":1", b":12"), "none": (), "loop": ()}
NOT_FIRST = ("none", "loop", "again")


@dataclass(frozen=True)
class Members:
    """An object. `tails` says for each declared key, and `open_tail` for the others, what follows it.

    Tails: "one" `:1`, "two" `:1` or `:12`, "ones" `:[1,1]`, "self" `:1` or `:` and the whole format again,
    "again" only the latter, "none" nothing at all and "loop" what never ends, so that the member cannot be.
    `open_keys`: a finite language, "any" an infinite one, or None. `others`: further languages of keys,
    "any" or those that begin with "k", with what follows and which needs such a member meets; all of them
    must be met.
    """

    declared: tuple[str, ...]
    required: tuple[str, ...]
    tails: tuple[str, ...]
    open_keys: tuple[str, ...] | str | None
    open_tail: str
    minimum: int
    maximum: int | None
    ordered: bool
    by_value: bool
    separator: str
    others: tuple[tuple[str, str, frozenset[int]], ...] = ()

    def accepts(self, text: bytes) -> bool:
        """Is it an object of this format, from brace to brace?"""
        try:
            text.decode()
        except UnicodeDecodeError:
            return False
        return self._read(text, 0) == len(text)

    def is_empty(self) -> bool:
        """Is there no such object? There is one exactly if one has no object within it: count keys."""
        able = {key for key, tail in zip(self.declared, self.tails, strict=True) if tail not in NOT_FIRST}
        most = len(able)
        if not set(self.required) <= able:
            return True
        if isinstance(self.open_keys, tuple) and self.open_tail not in NOT_FIRST:
            most += len(set(self.open_keys) - set(self.declared))
        infinite = self.open_keys == "any" and self.open_tail not in NOT_FIRST
        met = [meets for _, tail, meets in self.others if tail not in NOT_FIRST]
        counts = [n for n in range(len(met) + 1) if any(self._covered(some) for some in combinations(met, n))]
        if not counts:
            return True
        infinite = infinite or bool(met)
        if self.maximum is not None and len(self.required) + counts[0] > self.maximum:
            return True
        if self.maximum is not None and (len(self.required) > self.maximum or self.minimum > self.maximum):
            return True
        return not infinite and most < self.minimum

    def is_endless(self) -> bool:
        """Is there none only because each needs another one within it?"""
        tails = tuple("self" if tail == "again" else tail for tail in self.tails)
        open_tail = "self" if self.open_tail == "again" else self.open_tail
        others = tuple(
            (keys, "self" if tail == "again" else tail, meets) for keys, tail, meets in self.others
        )
        able = replace(self, tails=tails, open_tail=open_tail, others=others)
        return self.is_empty() and not able.is_empty()

    def _covered(self, met: Iterable[frozenset[int]]) -> bool:
        """Is every need met by some of these?"""
        return frozenset().union(*(meets for *_, meets in self.others)) <= frozenset().union(*met)

    def texts(self) -> Iterator[bytes]:
        """All of them: for finite open languages and tails without an end to them."""
        keys = list(self.declared)
        keys += [key for key in self.open_keys or () if key not in keys]
        tails = dict(zip(self.declared, self.tails, strict=True))
        for count in range(self.minimum, len(keys) + 1 if self.maximum is None else self.maximum + 1):
            for chosen in permutations(keys, count):
                if not self._may_be(list(chosen)):
                    continue
                values = [TAIL_TEXTS[tails.get(key, self.open_tail)] for key in chosen]
                for tail in product(*values):
                    parts = [spell(key) + value for key, value in zip(chosen, tail, strict=True)]
                    yield from (b"{" + body + b"}" for body in joined(parts, self.separator))

    def _may_be(self, keys: list[str]) -> bool:
        """The rules on keys alone; `keys` are declared or open ones."""
        if len(set(keys)) < len(keys) or not set(self.required) <= set(keys):
            return False
        if len(keys) < self.minimum or (self.maximum is not None and len(keys) > self.maximum):
            return False
        if not self.ordered:
            return True
        ranks = [self.declared.index(key) if key in self.declared else len(self.declared) for key in keys]
        return ranks == sorted(ranks)

    def _read(self, text: bytes, at: int) -> int:
        """Where the object that begins at `at` ends, or -1."""
        if text[at : at + 1] != b"{":
            return -1
        at += 1
        keys: list[str] = []
        met: list[list[frozenset[int]]] = []
        while text[at : at + 1] != b"}":
            if keys:
                found = SEPARATORS[self.separator].match(text, at)
                if found is None:
                    return -1
                at = found.end()
            at, key, meets = self._read_member(text, at)
            if at < 0:
                return -1
            keys.append(key)
            met.append(meets)
        return at + 1 if self._may_be(keys) and any(map(self._covered, product(*met))) else -1

    def _read_member(self, text: bytes, at: int) -> tuple[int, str, list[frozenset[int]]]:
        """Where a member ends, its key, and what it may meet: one set for each language that it may be of."""
        found = (KEY if self.by_value else PLAIN_KEY).match(text, at)
        if found is None:
            return -1, "", []
        key = json.loads(found.group())
        if key in self.declared:
            # A declared key has one spelling here; the open language never spells it.
            tail = self.tails[self.declared.index(key)] if found.group() == spell(key) else "none"
        elif isinstance(self.open_keys, tuple):
            tail = self.open_tail if key in self.open_keys and found.group() == spell(key) else "none"
        else:
            tail = self.open_tail if self.open_keys == "any" else "none"
        ends = [(self._read_tail(tail, text, found.end()), frozenset())]
        if key not in self.declared:
            ends += [
                (self._read_tail(tail, text, found.end()), meets)
                for keys, tail, meets in self.others
                if keys == "any" or found.group().startswith(b'"k')
            ]
        last = max(end for end, _ in ends)
        return last, key, [meets for end, meets in ends if end == last]

    def _read_tail(self, tail: str, text: bytes, at: int) -> int:
        if tail == "ones":
            found = ONES.match(text, at)
            return found.end() if found else -1
        if tail in ("self", "again") and text[at : at + 2] == b":{":
            return self._read(text, at + 1)
        texts = TAIL_TEXTS.get("one" if tail == "self" else tail, ())
        return max((at + len(option) for option in texts if text.startswith(option, at)), default=-1)


@dataclass(frozen=True)
class Distinct:
    """An array of different items.

    Items: a tuple of JSON texts, or "string", "number", "pair" (`[1, 2]`, each with a space around or none).
    """

    prefix: tuple[tuple[str, ...] | str, ...]
    rest: tuple[str, ...] | str | None
    minimum: int
    maximum: int | None
    by_value: bool
    separator: str

    def accepts(self, text: bytes) -> bool:
        """Is it an array of this format, from bracket to bracket?"""
        if text[:1] != b"[" or text[-1:] != b"]" or len(text) < 2:
            return False
        items: list[bytes] = []
        at, end = 1, len(text) - 1
        while at < end:
            item = self._item(text, at, len(items))
            if item is None:
                return False
            items.append(item)
            at += len(item)
            if at >= end:
                break
            found = SEPARATORS[self.separator].match(text, at)
            if found is None or found.end() >= end:
                return False
            at = found.end()
        return at == end and self._may_be(items)

    def texts(self) -> Iterator[bytes]:
        """All of them: for finite languages of items."""
        most = len(self.prefix) if self.rest is None else self.maximum
        assert most is not None
        if self.maximum is not None:
            most = min(most, self.maximum)
        for count in range(self.minimum, most + 1):
            places = [self._kind(place) for place in range(count)]
            for items in product(*([item.encode() for item in place] for place in places)):  # type: ignore[union-attr]
                if self._may_be(list(items)):
                    yield from (b"[" + body + b"]" for body in joined(items, self.separator))

    def _kind(self, place: int) -> tuple[str, ...] | str | None:
        return self.prefix[place] if place < len(self.prefix) else self.rest

    def _may_be(self, items: list[bytes]) -> bool:
        names = {json_identity(item) if self.by_value else item for item in items}
        most = len(items) if self.maximum is None else self.maximum
        return len(names) == len(items) and self.minimum <= len(items) <= most

    def _item(self, text: bytes, at: int, place: int) -> bytes | None:
        kind = self._kind(place)
        if kind is None:
            return None
        if isinstance(kind, tuple):
            options = [item.encode() for item in kind if text.startswith(item.encode(), at)]
            return max(options, key=len, default=None)
        found = ITEMS[kind].match(text, at)
        return found.group() if found else None


ITEMS = {
    "string": re.compile(rb'"(?:[ab]|\xc3\xa9|\\u00[0-9a-f]{2})*"'),
    "number": NUMBER,
    "pair": re.compile(rb"\[ ?(?:0|[1-9][0-9]*) ?, ?(?:0|[1-9][0-9]*) ?\]"),
}


@dataclass(frozen=True)
class Decimal:
    """A number in plain decimal."""

    minimum: str | None
    maximum: str | None
    exclusive_minimum: bool
    exclusive_maximum: bool
    multiple_of: tuple[str, ...]
    not_multiple_of: tuple[str, ...]
    integer: bool
    max_fraction: int
    max_digits: int

    def accepts(self, text: bytes) -> bool:
        """Is it written as it should be, and in the set?"""
        found = DECIMAL.fullmatch(text)
        if found is None:
            return False
        sign, whole, fraction = found.groups()
        if len(whole) > self.max_digits or len(fraction or b"") > self.max_fraction:
            return False
        value = Fraction(text.decode())
        if (self.integer and fraction is not None) or (sign and value == 0):
            return False
        return self.has(value)

    def has(self, value: Fraction) -> bool:
        """Is the value in the set, whatever its spelling?"""
        low = Fraction(self.minimum) if self.minimum is not None else None
        high = Fraction(self.maximum) if self.maximum is not None else None
        if low is not None and (value < low or (self.exclusive_minimum and value == low)):
            return False
        if high is not None and (value > high or (self.exclusive_maximum and value == high)):
            return False
        multiple = all((value / Fraction(step)).denominator == 1 for step in self.multiple_of)
        return multiple and all((value / Fraction(step)).denominator != 1 for step in self.not_multiple_of)

    def texts(self) -> Iterator[bytes]:
        """All of them: for few digits."""
        places = 0 if self.integer else self.max_fraction
        fractions = [b""] + [b".%0*d" % (n, value) for n in range(1, places + 1) for value in range(10**n)]
        for whole in range(10**self.max_digits):
            for fraction in fractions:
                for sign in (b"", b"-"):
                    text = sign + b"%d" % whole + fraction
                    if self.accepts(text):
                        yield text


SCALARS = (1, 12, True, None, "", "a")


@dataclass(frozen=True)
class Indented:
    """JSON as `json.dumps` writes it with an indent: the scalars above, lists, and objects whose keys are
    `[a-c]*`.
    """

    indent: int

    def accepts(self, text: bytes) -> bool:
        """Would `json.dumps` have written it?"""
        repeated: list[bool] = []

        def object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
            repeated.append(len(dict(pairs)) < len(pairs))
            return dict(pairs)

        try:
            value = json.loads(text, object_pairs_hook=object_of)
        except ValueError:
            return False
        return not any(repeated) and self._knows(value) and self.write(value) == text

    def write(self, value: object) -> bytes:
        """What `json.dumps` writes."""
        return json.dumps(value, indent=self.indent, ensure_ascii=False).encode()

    def _knows(self, value: object) -> bool:
        if isinstance(value, dict):
            return all(re.fullmatch("[a-c]*", key) and self._knows(item) for key, item in value.items())
        if isinstance(value, list):
            return all(map(self._knows, value))
        return any(value is known or (type(value) is type(known) and value == known) for known in SCALARS)


Format = Members | Distinct | Decimal | Indented


def spell(key: str) -> bytes:
    """The one spelling of a declared key."""
    return json.dumps(key, ensure_ascii=False).encode()


def joined(parts: Sequence[bytes], separator: str) -> Iterator[bytes]:
    """The parts with every text of the separator between any two."""
    if not parts:
        yield b""
        return
    for between in product(SEPARATOR_TEXTS[separator], repeat=len(parts) - 1):
        yield parts[0] + b"".join(left + right for left, right in zip(between, parts[1:], strict=True))


def json_identity(text: bytes) -> str:
    """Equal for equal JSON values and for no others: numbers exactly, true not as 1."""

    def name(value: object) -> object:
        if isinstance(value, list):
            return [name(item) for item in value]
        if isinstance(value, Fraction):
            return ["number", str(value)]
        return ["other", value]

    return json.dumps(name(json.loads(text, parse_float=Fraction, parse_int=Fraction)))


class Prefixes:
    """All texts of a small format, asked for beginnings: the exact mask at every place."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        self.texts = sorted(set(texts))

    def has(self, text: bytes) -> bool:
        """Is the text in the format?"""
        at = bisect_left(self.texts, text)
        return at < len(self.texts) and self.texts[at] == text

    def goes_on(self, beginning: bytes) -> bool:
        """Does some text begin so?"""
        at = bisect_left(self.texts, beginning)
        return at < len(self.texts) and self.texts[at].startswith(beginning)
