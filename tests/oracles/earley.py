"""Is a text in the language of an IR grammar, and which tokens may come next? A plain Earley recogniser.

It reads the flat record of a `Grammar` by its own decoder and interprets it symbol by symbol: a symbol is a
byte (0 to 255) or a special token (256 + its id). Slow, and independent of the engine: no automata, no
epsilon removal, no shared code. `&` and `~` go through derivatives.

A chart column is a set of items (node, progress, origin). What progress means depends on the node: the dot of
a sequence, the count of a repeat, the bytes read of a literal. Items are made only where all that must still
follow has some text, so a column with items means that the text so far can be finished (the prefix property).
An empty part is stepped over when it is predicted (Aycock and Horspool, "Practical Earley Parsing", 2002).
"""

# ruff: noqa: PLR0911 - dispatch on the kind of node
from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from oracles import derivatives as d

OPS = (
    "empty",
    "literal",
    "byte_class",
    "chars",
    "sequence",
    "choice",
    "repeat",
    "reference",
    "intersection",
    "complement",
    "literals",
    "special",
)
REGULAR = ("intersection", "complement")
FIRST_SPECIAL = 256
UNBOUNDED = 0xFFFF_FFFF

Item = tuple[int, object, int]


def special_symbol(token_id: int) -> int:
    """The symbol of a special token."""
    return FIRST_SPECIAL + token_id


class Column:
    """One position of the text: its items, who waits for which node here, and what may be read next."""

    __slots__ = ("items", "order", "scans", "waiting")

    def __init__(self) -> None:
        self.items: set[Item] = set()
        self.order: list[Item] = []
        self.waiting: dict[int, list[Item]] = {}
        self.scans: list[Item] = []


class Oracle:
    """The language of one grammar."""

    def __init__(self, grammar: object) -> None:
        self.ops, self.args, self.blob = _decode(grammar)
        self.rules: Sequence[int] = grammar.rules  # type: ignore[attr-defined]
        self.root: int = self.rules[grammar.root]  # type: ignore[attr-defined]
        self.terms = d.Terms()
        self._expressions: dict[int, d.Term] = {}
        self._paths: dict[int, object] = {}
        self._subtrees: dict[tuple[int, bytes], dict | None] = {}
        self.nullable = self._fixpoint(self._is_nullable)
        self.productive = self._fixpoint(self._is_productive)
        self._last: list[int] = []  # the text read last, and its columns: a walk reads each symbol once
        self._columns = [self._first_column()]

    # Questions

    def accepts(self, symbols: Iterable[int]) -> bool:
        """Is this text in the language?"""
        columns = self.columns(symbols)
        return columns is not None and self._complete(columns)

    def is_prefix(self, symbols: Iterable[int]) -> bool:
        """Does some text of the language start with this?"""
        return self.columns(symbols) is not None

    def mask(
        self,
        prefix: Sequence[int],
        tokens: Sequence[bytes | None],
        eos_ids: Iterable[int],
        special_ids: Iterable[int],
    ) -> list[bool]:
        """Which tokens may follow a prefix, each by its bytes; tokens that begin alike share columns."""
        columns = self.columns(prefix)
        allowed = [False] * len(tokens)
        if columns is None:
            return allowed
        eos, special = set(eos_ids), set(special_ids)
        end = self._complete(columns)
        by_text: dict[bytes, list[int]] = {}
        for token, text in enumerate(tokens):
            if token in eos or token in special:
                named = self._step(columns, special_symbol(token)) is not None
                allowed[token] = named or (end and token in eos)
            elif text:
                by_text.setdefault(text, []).append(token)
        for text in self._alive(columns, sorted(by_text)):
            for token in by_text[text]:
                allowed[token] = True
        return allowed

    def possible(self, prefix: Sequence[int]) -> tuple[list[int], bool]:
        """The symbols that may come next, and whether the text may end here."""
        columns = self.columns(prefix)
        if columns is None:
            return [], False
        named = {self.args[node][0] for node, _, _ in columns[-1].scans if self.ops[node] == "special"}
        symbols = [*range(256), *(special_symbol(token) for token in sorted(named))]
        return [s for s in symbols if self._step(columns, s) is not None], self._complete(columns)

    # Reading

    def columns(self, symbols: Iterable[int]) -> list[Column] | None:
        """The chart of a text, a column for each place in it; None if no text starts so."""
        if not self.productive[self.root]:
            return None
        text = list(symbols)
        keep = 0
        while keep < min(len(text), len(self._last)) and text[keep] == self._last[keep]:
            keep += 1
        columns = self._columns[: keep + 1]
        for at in range(keep, len(text)):
            column = self._step(columns, text[at])
            if column is None:
                return None
            columns.append(column)
        self._last, self._columns = text, columns
        return list(columns)

    def _alive(self, columns: list[Column], texts: Sequence[bytes]) -> list[bytes]:
        """Those of the sorted texts that can be read; what two neighbours share is read once."""
        base = len(columns)
        stack = list(columns)
        path = b""
        dead: bytes | None = None
        found = []
        for text in texts:
            if dead is not None and text.startswith(dead):
                continue
            keep = 0
            while keep < min(len(path), len(text)) and path[keep] == text[keep]:
                keep += 1
            del stack[base + keep :]
            path = text[:keep]
            for byte in text[keep:]:
                column = self._step(stack, byte)
                if column is None:
                    dead = path + bytes([byte])
                    break
                stack.append(column)
                path += bytes([byte])
            else:
                found.append(text)
        return found

    def _complete(self, columns: list[Column]) -> bool:
        if len(columns) == 1:
            return self.nullable[self.root]
        return (self.root, "done", 0) in columns[-1].items

    def _first_column(self) -> Column:
        column = Column()
        if self.productive[self.root]:
            self._predict(column, self.root, 0)
            self._close([column])
        return column

    def _step(self, columns: list[Column], symbol: int) -> Column | None:
        """The column after one more symbol, or None where no text goes on like this."""
        fresh = Column()
        for node, progress, origin in columns[-1].scans:
            after = self.scan(node, progress, symbol)
            if after is None:
                continue
            for state in after:
                self._add(fresh, (node, state, origin))
        if not fresh.items:
            return None
        columns.append(fresh)
        self._close(columns)
        return columns.pop()

    @staticmethod
    def _add(column: Column, item: Item) -> None:
        if item not in column.items:
            column.items.add(item)
            column.order.append(item)

    def _predict(self, column: Column, node: int, position: int) -> None:
        for progress in self.starts(node):
            self._add(column, (node, progress, position))

    def _close(self, columns: list[Column]) -> None:
        """Predict and complete until nothing is new."""
        here = len(columns) - 1
        column = columns[here]
        at = 0
        while at < len(column.order):
            item = column.order[at]
            at += 1
            node, progress, origin = item
            if progress == "done":
                if origin < here:  # an empty part was stepped over when it was predicted
                    for caller in columns[origin].waiting.get(node, ()):
                        self._advance(column, caller, here)
                continue
            if self.ops[node] in ("sequence", "choice", "repeat", "reference"):
                for part in self._expected(node, progress):
                    column.waiting.setdefault(part, []).append(item)
                    self._predict(column, part, here)
                    if self.nullable[part]:
                        self._advance(column, item, here, empty=True)
            else:
                column.scans.append(item)

    # What each kind of node expects

    def starts(self, node: int) -> list[object]:
        """The progress with which a node begins; "done" too, if a leaf can be empty."""
        op, args = self.ops[node], self.args[node]
        if not self.productive[node]:
            return []
        if op == "sequence":
            return [0]
        if op in ("choice", "reference"):
            return ["open"]
        if op == "repeat":
            return [0, "done"] if self._counts(node)[0] == 0 else [0]
        if op == "literal":
            return [0] if args[1] else ["done"]
        if op in REGULAR:
            term = self._expression(node)
            return [term, "done"] if d.nullable(term) else [term]
        if op in ("chars", "literals"):
            return [b"", "done"] if None in self._path(node) else [b""]
        return [0]

    def _expected(self, node: int, progress: object) -> list[int]:
        op, args = self.ops[node], self.args[node]
        if op == "sequence":
            return [args[progress]]  # type: ignore[call-overload,no-any-return]
        if op == "choice":
            return list(args)
        if op == "reference":
            return [self.rules[args[0]]]
        high = self._counts(node)[1]
        if not self.productive[args[0]]:
            return []
        return [args[0]] if high is None or progress < high else []  # type: ignore[operator]

    def _counts(self, node: int) -> tuple[int, int | None]:
        """The bounds of a repeat. If its body can be empty, any missing ones can be empty."""
        body, low, high = self.args[node]
        return (0 if self.nullable[body] else low), (None if high == UNBOUNDED else high)

    def _advance(self, column: Column, item: Item, here: int, *, empty: bool = False) -> None:
        """A part of the item has been read."""
        node, progress, origin = item
        op = self.ops[node]
        if op == "sequence":
            dot = progress + 1  # type: ignore[operator]
            self._add(column, (node, "done" if dot == len(self.args[node]) else dot, origin))
        elif op == "repeat":
            if empty:
                return  # one more empty part is nothing new
            low, high = self._counts(node)
            count = progress + 1  # type: ignore[operator]
            if high is None:
                count = min(count, low)
            self._add(column, (node, count, origin))
            if count >= low:
                self._add(column, (node, "done", origin))
        else:
            self._add(column, (node, "done", origin))

    def scan(self, node: int, progress: object, symbol: int) -> list[object] | None:
        """Where an item on a leaf goes with a symbol."""
        op, args = self.ops[node], self.args[node]
        if op == "special":
            return ["done"] if symbol == special_symbol(args[0]) else None
        if symbol >= FIRST_SPECIAL:
            return None
        if op == "literal":
            at = progress
            if self.blob[args[0] + at] != symbol:  # type: ignore[operator]
                return None
            return ["done" if at + 1 == args[1] else at + 1]  # type: ignore[operator]
        if op == "byte_class":
            return ["done"] if self.blob[args[0] + symbol // 8] >> symbol % 8 & 1 else None
        if op in REGULAR:
            term = self.terms.after(progress, symbol)  # type: ignore[arg-type]
            if not self.terms.live(term):
                return None
            return [term, "done"] if d.nullable(term) else [term]
        below = self._below(node, progress + bytes([symbol]))  # type: ignore[operator]
        if below is None:
            return None
        states: list[object] = ["done"] if None in below else []
        if len(below) > (None in below):
            states.append(progress + bytes([symbol]))  # type: ignore[operator]
        return states

    def _below(self, node: int, path: bytes) -> dict | None:
        """The part of a tree of byte strings after the bytes read so far; None where there is none."""
        key = (node, path)
        if key not in self._subtrees:
            tree = self._below(node, path[:-1]) if path else self._path(node)
            self._subtrees[key] = _descend(tree, path[-1]) if tree is not None and path else tree
        return self._subtrees[key]

    # Facts about nodes

    def _fixpoint(self, rule: object) -> list[bool]:
        """The least solution, over nodes in their order, until a round changes nothing."""
        facts = [False] * len(self.ops)
        changed = True
        while changed:
            changed = False
            for node in range(len(facts)):
                if not facts[node] and rule(node, facts):  # type: ignore[operator]
                    facts[node] = changed = True
        return facts

    def _is_nullable(self, node: int, facts: list[bool]) -> bool:
        op, args = self.ops[node], self.args[node]
        if op == "literal":
            return args[1] == 0
        if op == "sequence":
            return all(facts[part] for part in args)
        if op == "choice":
            return any(facts[part] for part in args)
        if op == "repeat":
            return args[1] == 0 or facts[args[0]]
        if op == "reference":
            return facts[self.rules[args[0]]]
        if op in REGULAR:
            return d.nullable(self._expression(node))
        return op == "literals" and None in self._path(node)

    def _is_productive(self, node: int, facts: list[bool]) -> bool:
        op, args = self.ops[node], self.args[node]
        if op == "sequence":
            return all(facts[part] for part in args)
        if op == "choice":
            return any(facts[part] for part in args)
        if op == "repeat":
            return args[1] == 0 or facts[args[0]]
        if op == "reference":
            return facts[self.rules[args[0]]]
        if op == "byte_class":
            return any(self.blob[args[0] : args[0] + 32])
        if op == "chars":
            return bool(self._path(node))
        if op in REGULAR:
            return self.terms.live(self._expression(node))
        return op != "empty"

    # Regular nodes

    def _expression(self, node: int) -> d.Term:
        """A regular node as an expression for derivatives; rules that it names are put in place."""
        found = self._expressions.get(node)
        if found is None:
            found = self._expressions[node] = self._build_expression(node)
        return found

    def _build_expression(self, node: int) -> d.Term:
        op, args = self.ops[node], self.args[node]
        if op == "empty":
            return d.EMPTY
        if op == "literal":
            return d.of_text(self.blob[args[0] : args[0] + args[1]])
        if op == "byte_class":
            return d.of_bytes(int.from_bytes(self.blob[args[0] : args[0] + 32], "little"))
        if op in ("chars", "literals"):
            return _as_term(self._path(node))
        if op == "sequence":
            term = d.EPSILON
            for part in reversed(args):
                term = d.sequence(self._expression(part), term)
            return term
        if op == "choice":
            return d.choice({self._expression(part) for part in args})
        if op == "repeat":
            return d.repeat(self._expression(args[0]), args[1], None if args[2] == UNBOUNDED else args[2])
        if op == "intersection":
            return d.intersection({self._expression(part) for part in args})
        if op == "complement":
            return d.complement(self._expression(args[0]))
        if op == "reference":
            return self._expression(self.rules[args[0]])
        raise ValueError(f"{op} is not regular")

    def _path(self, node: int) -> dict:
        """A set of byte strings as a tree: (low, high) of the next byte -> tree; None marks an end."""
        found = self._paths.get(node)
        if found is None:
            start, size = self.args[node][:2]
            text = self.blob[start : start + size]
            if self.ops[node] == "chars":
                bounds = struct.unpack(f"<{size // 4}I", text)
                found = _utf8_tree(list(zip(bounds[::2], bounds[1::2], strict=True)))
            else:
                offset, count = self.args[node][2:]
                found = _word_tree(text, struct.unpack_from(f"<{count}I", self.blob, offset))
            self._paths[node] = found
        return found  # type: ignore[return-value]


def _decode(grammar: object) -> tuple[list[str], list[tuple[int, ...]], bytes]:
    words: bytes = grammar.words  # type: ignore[attr-defined]
    flat = struct.unpack(f"<{len(words) // 4}I", words)
    ops, args = [], []
    at = 0
    while at < len(flat):
        count = flat[at + 1]
        ops.append(OPS[flat[at]])
        args.append(flat[at + 2 : at + 2 + count])
        at += 2 + count
    return ops, args, grammar.blob  # type: ignore[attr-defined]


def _descend(tree: dict, byte: int) -> dict | None:
    for key, below in tree.items():
        if key is not None and key[0] <= byte <= key[1]:
            return below  # type: ignore[no-any-return]
    return None


def _utf8_tree(ranges: list[tuple[int, int]]) -> dict:
    """UTF-8 of code points: split where the length changes, then at blocks of 64, 4,096 and so on."""
    tree: dict = {}
    limits = [(0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
    for low, high in ranges:
        for first, last in limits:
            if max(low, first) <= min(high, last):
                _insert_utf8(tree, max(low, first), min(high, last))
    return tree


def _insert_utf8(tree: dict, low: int, high: int) -> None:
    todo = [(low, high)]
    while todo:
        low, high = todo.pop()
        size = len(chr(low).encode())
        for rest in range(1, size):
            span = 64**rest
            if low // span != high // span:
                if low % span:
                    todo += [(low, low // span * span + span - 1), (low // span * span + span, high)]
                    break
                if high % span != span - 1:
                    todo += [(low, high // span * span - 1), (high // span * span, high)]
                    break
        else:
            at = tree
            for pair in zip(chr(low).encode(), chr(high).encode(), strict=True):
                at = at.setdefault(pair, {})
            at[None] = True


def _word_tree(text: bytes, lengths: Sequence[int]) -> dict:
    tree: dict = {}
    start = 0
    for length in lengths:
        at = tree
        for byte in text[start : start + length]:
            at = at.setdefault((byte, byte), {})
        at[None] = True
        start += length
    return tree


def _as_term(tree: dict) -> d.Term:
    branches = {d.EPSILON} if None in tree else set()
    for key, below in tree.items():
        if key is not None:
            members = sum(1 << byte for byte in range(key[0], key[1] + 1))
            branches.add(d.sequence(d.of_bytes(members), _as_term(below)))
    return d.choice(branches)
