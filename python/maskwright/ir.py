"""What does a format look like on its way to the engine? The one small IR that every front end writes.

A `Builder` hands out integer node ids; a node refers only to nodes made before it, so the record is
already in post order. Equal nodes are one node. `Builder.grammar` freezes it all into a `Grammar`:
flat little-endian words and one blob of bytes, handed to Rust in a single call. Recursion goes through
named rules only: declare a rule, refer to it, define it once. Misuse of a builder (a byte above 255, counts
that run backwards, a rule without a definition) raises `MaskwrightError`.

The meaning of each node is a language over bytes and special tokens:

    empty()                  no text at all
    literal(b"..")           exactly these bytes; b"" is the empty text
    byte_class({..})         one byte of a set
    chars([(lo, hi), ..])    one character of a set of code points, in UTF-8 (surrogates are left out)
    sequence([..])           one after the other
    choice([..])             any of them
    repeat(n, lo, hi)        n, lo to hi times; hi None: without a bound
    reference(rule)          whatever the rule says
    intersection([..])       in all of them; regular parts only
    complement(n)            every byte string that is not in n; regular parts only
    literals([b"..", ..])    any of many byte strings (a word list)
    special(token_id)        one special token, by its id
    members(..)              keys and values in any or in a given order, no key twice
    distinct(..)             items, no two alike
    decimal(..)              a number of an interval that is a multiple of some numbers and not of others
    nested(n), indentation   n, one level deeper; a line break and the indentation of the level
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from maskwright.errors import MaskwrightError

__all__ = [
    "MAX_CODE_POINT",
    "SPELLING_JSON",
    "SPELLING_RAW",
    "UNBOUNDED",
    "Builder",
    "Declared",
    "Fragment",
    "Grammar",
    "Node",
    "Open",
    "Rule",
    "merge_ranges",
]

UNBOUNDED = 0xFFFF_FFFF
MAX_CODE_POINT = 0x10FFFF

OP_EMPTY = 0
OP_LITERAL = 1
OP_BYTE_CLASS = 2
OP_CHARS = 3
OP_SEQUENCE = 4
OP_CHOICE = 5
OP_REPEAT = 6
OP_REFERENCE = 7
OP_INTERSECTION = 8
OP_COMPLEMENT = 9
OP_LITERALS = 10
OP_SPECIAL = 11
OP_MEMBERS = 12
OP_DISTINCT = 13
OP_DECIMAL = 14
OP_NESTED = 15
OP_INDENTATION = 16

_TEXTS = {
    OP_LITERAL: (2,),
    OP_BYTE_CLASS: (2,),
    OP_CHARS: (2,),
    OP_LITERALS: (2, 4),
    OP_DECIMAL: (2,),
}
"""Where in a record texts are, for the leaves that have some."""

SPELLING_RAW = 0
"""Two keys or items are the same if their bytes are."""
SPELLING_JSON = 1
"""Two keys or items are the same if their JSON values are: escapes are read, numbers compared as exact
decimals, white space between JSON's tokens is nothing."""

Node = int
Rule = int

_UNDEFINED = -1
"""The node of a rule that is declared and not yet defined."""


class Declared(NamedTuple):
    """A member with a key of its own: `key` (regular) spells it, quotes and all; `tail` follows the key."""

    key: Node
    tail: Node
    required: bool = False


class Open(NamedTuple):
    """Members whose keys are in a language: the texts of `key` (regular) that are no declared key.

    `meets`: which needs of the object one of them meets, as bits; 0 for none, 6 needs at most.
    """

    key: Node
    tail: Node
    meets: int = 0


class Grammar(NamedTuple):
    """A format, ready for the engine. Immutable; equal content has an equal `key`.

    A tuple, as one is made in a third of the time that a frozen dataclass takes; its parts are asked by name.

    `words` holds a record `[op, n, arg * n]` a node, uint32 little-endian, in post order; `blob` the bytes
    that literals and classes point into; `rules` the node that defines each rule; `names` what to call them
    in messages.
    """

    words: bytes
    blob: bytes
    rules: tuple[Node, ...]
    names: tuple[str, ...]
    root: Rule

    @property
    def key(self) -> str:
        """SHA-256 in hex of the nodes, the rules and the root. Names do not count."""
        digest = sha256()
        self.add_to(digest)
        return digest.hexdigest()

    @property
    def n_bytes(self) -> int:
        """Bytes held, about."""
        return len(self.words) + len(self.blob) + 8 * len(self.rules)

    def add_to(self, digest: Any) -> None:
        """Add to a digest what tells this format from others: `key` is made so."""
        sizes = b"%d %d %r %d|" % (len(self.words), len(self.blob), self.rules, self.root)
        digest.update(sizes + self.words + self.blob)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A node with all that it needs, to be put into many builders: see `Builder.fragment`.

    `words` holds its records, nodes counted from 0 and bytes from the start of `blob`; `nodes` and `blobs`
    are the places in `words` that hold such numbers. All int64.
    """

    words: np.ndarray
    nodes: np.ndarray
    blobs: np.ndarray
    blob: bytes
    count: int


class Builder:
    """Writes a `Grammar`, node by node.

    >>> b = Builder()
    >>> digit = b.byte_class(range(0x30, 0x3A))
    >>> number = b.rule("number", b.repeat(digit, 1, None))
    >>> grammar = b.grammar(number)
    >>> grammar.names, len(grammar.rules)
    (('number',), 1)
    """

    __slots__ = (
        "_before",
        "_blob",
        "_blobs",
        "_chars",
        "_count",
        "_ids",
        "_known_blobs",
        "_known_chars",
        "_known_ids",
        "_known_literals",
        "_literals",
        "_names",
        "_rules",
        "_words",
    )

    def __init__(self) -> None:
        self._before = b""
        self._words: list[int] = []
        self._blob = bytearray()
        # What is there already; first what was there when this builder was copied, which nobody changes.
        self._known_blobs: dict[bytes, int] = {}
        self._known_chars: dict[tuple[tuple[int, int], ...], Node] = {}
        self._known_ids: dict[tuple[int, ...], Node] = {}
        self._known_literals: dict[bytes, Node] = {}
        self._blobs: dict[bytes, int] = {}
        self._chars: dict[tuple[tuple[int, int], ...], Node] = {}
        self._ids: dict[tuple[int, ...], Node] = {}
        self._literals: dict[bytes, Node] = {}
        self._count = 0
        self._rules: list[Node] = []
        self._names: list[str] = []

    def copy(self) -> Builder:
        """A builder that goes on from here, on its own. What the copy of a copy takes
        hangs on what was added since.

        >>> b = Builder()
        >>> first = b.literal(b"a")
        >>> other = b.copy()
        >>> other.literal(b"a") == first, other.literal(b"b") == b.literal(b"c")
        (True, True)
        """
        made = Builder.__new__(Builder)
        made._before = self._encoded()
        made._words = []
        made._blob = self._blob.copy()
        made._known_blobs, made._known_chars = self._known_blobs, self._known_chars
        made._known_ids, made._known_literals = self._known_ids, self._known_literals
        if self._words:
            made._known_blobs = {**self._known_blobs, **self._blobs}
            made._known_chars = {**self._known_chars, **self._chars}
            made._known_ids = {**self._known_ids, **self._ids}
            made._known_literals = {**self._known_literals, **self._literals}
        made._blobs, made._chars, made._ids, made._literals = {}, {}, {}, {}
        made._count = self._count
        made._rules = self._rules.copy()
        made._names = self._names.copy()
        return made

    # Leaves

    def empty(self) -> Node:
        """No text at all: the empty language."""
        return self._node((OP_EMPTY, 0))

    def literal(self, text: bytes) -> Node:
        """Exactly these bytes."""
        return self.each_literal((text,))[0]

    def each_literal(self, texts: Sequence[bytes]) -> list[Node]:
        """`literal` of each text."""
        known, own, count = self._known_literals, self._literals, self._count
        words, blob = self._words, self._blob
        nodes: list[Node] = []
        for text in texts:
            found = known.get(text)
            if found is None:
                found = own.setdefault(text, count)
                if found == count:
                    words += (OP_LITERAL, 2, len(blob), len(text))
                    blob += text
                    count += 1
            nodes.append(found)
        self._count = count
        return nodes

    def byte_class(self, members: Iterable[int]) -> Node:
        """One byte out of `members`."""
        bits = 0
        for byte in members:
            if not 0 <= byte <= 0xFF:
                raise _misuse(f"not a byte: {byte}")
            bits |= 1 << byte
        return self._node((OP_BYTE_CLASS, 2, self._store(bits.to_bytes(32, "little")), 32))

    def chars(self, ranges: Iterable[tuple[int, int]]) -> Node:
        """One character whose code point is in one of the inclusive `ranges`, as UTF-8."""
        # Unicode classes have up to 700 ranges, and patterns name them again and again.
        key = tuple(ranges)
        node = self._known_chars.get(key)
        if node is None:
            node = self._chars.get(key)
        if node is None:
            node = self._chars[key] = self._new_chars(key)
        return node

    def _new_chars(self, ranges: tuple[tuple[int, int], ...]) -> Node:
        flat = array("I")
        for low, high in merge_ranges(ranges):
            flat.append(low)
            flat.append(high)
        if not flat:
            return self.empty()
        text = _little_endian(flat)
        return self._node((OP_CHARS, 2, self._store(text), len(text)))

    def literals(self, texts: Iterable[bytes]) -> Node:
        """Any of the given byte strings; made for word lists of any size."""
        ordered = sorted(set(texts))
        if not ordered:
            return self.empty()
        lengths = array("I", map(len, ordered))
        text = b"".join(ordered)
        return self._node(
            (OP_LITERALS, 4, self._store(text), len(text), self._store(_little_endian(lengths)), len(ordered))
        )

    def special(self, token_id: int) -> Node:
        """One special token, named by its id."""
        if not 0 <= token_id < UNBOUNDED:  # an id is one word of a record
            raise _misuse(f"not a token id: {token_id}")
        return self._node((OP_SPECIAL, 1, token_id))

    # Inner nodes

    def sequence(self, parts: Sequence[Node]) -> Node:
        """The parts, one after the other; no parts: the empty text."""
        n = len(parts)
        if n > 1:
            return self._node((OP_SEQUENCE, n, *parts))
        return parts[0] if n else self.literal(b"")

    def choice(self, branches: Sequence[Node]) -> Node:
        """Any of the branches; no branches: the empty language."""
        if len(branches) == 1:
            return branches[0]
        if len(branches) == 2 and branches[0] != branches[1]:
            return self._node((OP_CHOICE, 2, *branches))
        unique = tuple(dict.fromkeys(branches))
        if len(unique) == 1:
            return unique[0]
        return self._node((OP_CHOICE, len(unique), *unique)) if unique else self.empty()

    def enclosed(self, opening: Node, body: Node, closing: Node, empty: Node | None) -> Node:
        """`opening`, `body` and `closing`; with `empty`, that after `opening` too.

        One way in for both: two ways that begin alike would be two states at each byte of `opening`.
        """
        if empty is None:
            return self._node((OP_SEQUENCE, 3, opening, body, closing))
        full = self._node((OP_SEQUENCE, 2, body, closing))
        return self._node((OP_SEQUENCE, 2, opening, self._node((OP_CHOICE, 2, full, empty))))

    def repeat(self, body: Node, minimum: int, maximum: int | None) -> Node:
        """`body`, from `minimum` to `maximum` times (None: without a bound), both below 2**32 - 1."""
        high = UNBOUNDED if maximum is None else maximum
        if not 0 <= minimum <= high or minimum >= UNBOUNDED or (maximum is not None and maximum >= UNBOUNDED):
            raise _misuse(f"not a range of counts: {minimum} to {maximum}")
        if (minimum, high) == (1, 1):
            return body
        return self._node((OP_REPEAT, 3, body, minimum, high))

    def optional(self, body: Node) -> Node:
        """`body` or nothing."""
        return self._node((OP_REPEAT, 3, body, 0, 1))

    def intersection(self, parts: Sequence[Node]) -> Node:
        """The texts that are in every part. Regular parts only: no recursion, no special token."""
        unique = tuple(dict.fromkeys(parts))
        if not unique:
            raise _misuse("an intersection needs at least one part")
        return unique[0] if len(unique) == 1 else self._node((OP_INTERSECTION, len(unique), *unique))

    def deterministic(self, body: Node) -> Node:
        """The same texts, as one deterministic automaton where that is small. Regular parts only.

        A place in it is one state, and so are its masks; in a pattern that is searched for it can be dozens.
        """
        return self._node((OP_INTERSECTION, 1, body))

    def complement(self, body: Node) -> Node:
        """Every byte string (valid UTF-8 or not) that is not in `body`. Regular parts only."""
        return self._node((OP_COMPLEMENT, 1, body))

    # Nodes that remember

    def members(
        self,
        separator: Node,
        declared: Sequence[tuple[Node, Node, bool]],
        open_: Sequence[tuple[Node, Node, int]] = (),
        *,
        minimum: int = 0,
        maximum: int | None = None,
        ordered: bool = False,
        spelling: int = SPELLING_RAW,
    ) -> Node:
        """Members with `separator` between them: what stands between the braces of an object.

        `declared` has the fields of `Declared`, `open_` those of `Open`; plain tuples are quicker made.

        Each declared member at most once and the required ones always; no two open members with the same
        key; `minimum` to `maximum` members in all. `ordered`: the declared ones in the order given, then the
        open ones. No key is the beginning of another (a closing quote sees to that). An open member is one of
        any language that has its key and its value; all needs that the languages meet must be met by some
        members, and a language that meets one has endless keys. `separator` has no empty text. `spelling`
        says when two open keys are the same. A minimum above the maximum leaves no text.
        """
        if maximum is not None and minimum > maximum:
            return self.empty()
        high = UNBOUNDED if maximum is None else maximum
        size, flat = 6 + 3 * len(declared) + 3 * len(open_), chain.from_iterable
        head = (OP_MEMBERS, size, separator, int(ordered), minimum, high, spelling, len(declared))
        return self._node((*head, *flat(declared), *flat(open_)))

    def distinct(
        self,
        separator: Node,
        prefix: Sequence[Node],
        rest: Node | None,
        *,
        minimum: int = 0,
        maximum: int | None = None,
        spelling: int = SPELLING_RAW,
    ) -> Node:
        """Items with `separator` between them, no two alike: those of `prefix`, then any number of `rest`.

        `minimum` to `maximum` items in all; a minimum above what there can be leaves no text. Items are
        regular; no item is followed by what could go on with it.
        """
        high = UNBOUNDED if maximum is None else maximum
        if rest is None:
            high = min(high, len(prefix))
            rest = self.empty()
        if minimum > high:
            return self.empty()
        words = (separator, minimum, high, spelling, rest, *prefix)
        return self._node((OP_DISTINCT, len(words), *words))

    def decimal(
        self,
        *,
        minimum: str | None = None,
        maximum: str | None = None,
        exclusive_minimum: bool = False,
        exclusive_maximum: bool = False,
        multiple_of: Sequence[str] = (),
        not_multiple_of: Sequence[str] = (),
        integer: bool = False,
        max_fraction: int = 20,
        max_digits: int = 40,
    ) -> Node:
        """A number of an interval in plain decimal, a multiple of some numbers and of none of others.

        Plain decimal is `-12.5`; the numbers are given so too. `integer`: no fraction is written. At most
        `max_fraction` digits after the point and `max_digits` before it. No superfluous zeros before, no
        `-0`; zeros may end a fraction.
        """
        fields = (minimum or "", maximum or "", ",".join(multiple_of), ",".join(not_multiple_of))
        text = "\n".join(fields).encode("ascii")
        flags = int(exclusive_minimum) | int(exclusive_maximum) << 1 | int(integer) << 2
        return self._node((OP_DECIMAL, 5, self._store(text), len(text), flags, max_fraction, max_digits))

    def nested(self, body: Node) -> Node:
        """`body`, where every indentation is one level deeper."""
        return self._node((OP_NESTED, 1, body))

    def indentation(self, lead: bytes, unit: bytes) -> Node:
        """`lead` (a line break, say; not empty), then `unit` once for each `nested` around this place."""
        if not lead:
            raise _misuse("an indentation begins with something: a line break, say")
        return self._node((OP_INDENTATION, 4, self._store(lead), len(lead), self._store(unit), len(unit)))

    # Fragments

    def fragment(self, node: Node) -> Fragment:
        """A node of this builder, a regular one, for `graft` to put into others.

        >>> b, other = Builder(), Builder()
        >>> digits = b.fragment(b.repeat(b.byte_class(b"0123456789"), 1, None))
        >>> grafted = other.sequence([other.literal(b"-"), other.graft(digits)])
        >>> direct = Builder()
        >>> parts = [direct.literal(b"-"), direct.repeat(direct.byte_class(b"0123456789"), 1, None)]
        >>> straight = direct.grammar(direct.rule("number", direct.sequence(parts)))
        >>> other.grammar(other.rule("number", grafted)) == straight
        True
        """
        words: list[int] = []
        nodes: list[int] = []
        blobs: list[int] = []
        blob = bytearray()
        places: dict[Node, Node] = {}
        for number, record, inner, texts in self._needed(node):
            start = len(words)
            nodes += [start + i for i in inner]
            blobs += [start + i for i in texts]
            words += record
            for i in inner:
                words[start + i] = places[record[i]]
            for i in texts:
                size = record[i + 1] * (4 if record[0] == OP_LITERALS and i == 4 else 1)
                words[start + i] = len(blob)
                blob += self._blob[record[i] : record[i] + size]
            places[number] = len(places)
        return Fragment(
            np.array(words, np.int64),
            np.array(nodes, np.int64),
            np.array(blobs, np.int64),
            bytes(blob),
            len(places),
        )

    def graft(self, fragment: Fragment) -> Node:
        """Put a fragment in: 14 µs for 100 nodes. They are not shared with others."""
        words = fragment.words.copy()
        words[fragment.nodes] += self._count
        words[fragment.blobs] += len(self._blob)
        self._words.extend(words.tolist())
        self._blob += fragment.blob
        self._count += fragment.count
        return self._count - 1

    # Rules

    def rule(self, name: str, body: Node | None = None) -> Rule:
        """Declare a rule, and define it at once if `body` is given. Names, for messages, need not differ."""
        self._names.append(name)
        self._rules.append(_UNDEFINED if body is None else body)
        return len(self._rules) - 1

    def ahead(self, name: str) -> tuple[Rule, Node]:
        """Declare a rule and refer to it."""
        rule = len(self._rules)
        self._names.append(name)
        self._rules.append(_UNDEFINED)
        return rule, self._node((OP_REFERENCE, 1, rule))

    def define(self, rule: Rule, body: Node) -> None:
        """Say what a declared rule is. Once."""
        if self._rules[rule] != _UNDEFINED:
            raise _misuse(f"rule {self._names[rule]!r} is defined twice")
        self._rules[rule] = body

    def reference(self, rule: Rule) -> Node:
        """Whatever the rule says; it may be defined later."""
        return self._node((OP_REFERENCE, 1, rule))

    def grammar(self, root: Rule) -> Grammar:
        """Freeze what was built, with `root` as the rule of the whole text."""
        if _UNDEFINED in self._rules:
            name = self._names[self._rules.index(_UNDEFINED)]
            raise _misuse(f"rule {name!r} is declared and never defined")
        return Grammar(self._encoded(), bytes(self._blob), tuple(self._rules), tuple(self._names), root)

    # The record

    def _encoded(self) -> bytes:
        """All records: those of the builder that this one is a copy of are bytes already."""
        if not self._words:
            return self._before
        words = array("I")
        words.fromlist(self._words)  # a fifth less than array("I", words)
        return self._before + _little_endian(words)

    def _needed(self, node: Node) -> Iterable[tuple[Node, Sequence[int], Sequence[int], Sequence[int]]]:
        """The records that a node is made of, in order, each with where nodes and texts are in it."""
        found = []
        needed = {node}
        for number, record in reversed(list(enumerate(self._records()))):
            if number in needed:
                inner, texts = _inner(record)
                needed.update([record[i] for i in inner])
                found.append((number, record, inner, texts))
        return reversed(found)

    def _records(self) -> Iterator[Sequence[int]]:
        """All records in order."""
        words: list[int] = np.frombuffer(self._encoded(), "<u4").tolist()
        start = 0
        while start < len(words):
            end = start + 2 + words[start + 1]
            yield words[start:end]
            start = end

    def _node(self, record: tuple[int, ...]) -> Node:
        node = self._known_ids.get(record)
        if node is None:
            count = self._count
            node = self._ids.setdefault(record, count)
            if node == count:
                self._words += record
                self._count = count + 1
        return node

    def _store(self, text: bytes) -> int:
        found = self._known_blobs.get(text)
        if found is None:
            found = self._blobs.get(text)
        if found is None:
            found = self._blobs[text] = len(self._blob)
            self._blob += text
        return found


def _inner(record: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Where in a record `(op, n, arg, ..)` nodes are, and where texts (the length comes next)."""
    op, end = record[0], len(record)
    if op in _TEXTS:
        return (), _TEXTS[op]
    if op in (OP_SEQUENCE, OP_CHOICE, OP_INTERSECTION):
        return range(2, end), ()
    if op in (OP_REPEAT, OP_COMPLEMENT):
        return (2,), ()
    if op == OP_EMPTY:
        return (), ()
    raise _misuse("a fragment holds regular parts only")


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort inclusive ranges of code points and merge those that touch.

    >>> merge_ranges([(5, 9), (1, 2), (3, 4), (8, 12)])
    [(1, 12)]
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if not 0 <= low <= high <= MAX_CODE_POINT:
            raise _misuse(f"not a range of code points: {low} to {high}")
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


if array("I").itemsize != 4:  # pragma: no cover - no such platform is supported
    raise RuntimeError("this platform has no 32-bit unsigned int")
_IS_LITTLE = sys.byteorder == "little"


def _misuse(what: str) -> MaskwrightError:
    return MaskwrightError(what, where="the builder", code="argument.ir")


def _little_endian(words: array[int]) -> bytes:
    """The bytes of an array of 32-bit words, little end first on every machine."""
    if not _IS_LITTLE:
        words = array("I", words)
        words.byteswap()
    return words.tobytes()
