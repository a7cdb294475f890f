"""How can a text that was begun be finished? A proof that what the Earley oracle calls a prefix is one.

The chart says who waits for whom; each node has a shortest text; so from any item of the last column the rest
of its node, then the rest of a node that waits for it, and so on to the root. The caller checks the finished
text.
"""

from __future__ import annotations

from collections.abc import Sequence

from oracles import derivatives as d
from oracles.earley import REGULAR, Column, Oracle, special_symbol

Text = tuple[int, ...]


class Finisher:
    """Finishes texts of one oracle's grammar."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.shortest: list[Text | None] = [None] * len(oracle.ops)
        changed = True
        while changed:
            changed = False
            for node in range(len(oracle.ops)):
                found = self._whole(node)
                known = self.shortest[node]
                if found is not None and (known is None or len(found) < len(known)):
                    self.shortest[node] = found
                    changed = True

    def finish(self, prefix: Sequence[int]) -> Text | None:
        """What to add to a prefix so that it is a text; None where the oracle has no way."""
        columns = self.oracle.columns(prefix)
        if columns is None:
            return None
        here = len(columns) - 1
        seen: set[tuple[int, int]] = set()
        todo: list[tuple[int, int, Text]] = []
        for node, progress, origin in sorted(columns[here].items, key=repr):
            rest = self._rest(node, progress)
            if rest is not None:
                todo.append((node, origin, rest))
        for node, origin, text in todo:
            if node == self.oracle.root and origin == 0:
                return text
            if (node, origin) not in seen:
                seen.add((node, origin))
                todo.extend(self._callers(columns[origin], node, text))
        return None

    def _callers(self, column: Column, node: int, text: Text) -> list[tuple[int, int, Text]]:
        found = []
        for caller, progress, origin in column.waiting.get(node, ()):
            rest = self._after_part(caller, progress)
            if rest is not None:
                found.append((caller, origin, text + rest))
        return found

    def _after_part(self, node: int, progress: object) -> Text | None:
        """The rest of a node that waits for a part, once it has that part."""
        op, args = self.oracle.ops[node], self.oracle.args[node]
        if op == "sequence":
            return self._joined(args[progress + 1 :])  # type: ignore[operator]
        if op == "repeat":
            return self._joined([args[0]] * max(args[1] - progress - 1, 0))  # type: ignore[operator]
        return ()

    def _joined(self, nodes: Sequence[int]) -> Text | None:
        parts = [self.shortest[node] for node in nodes]
        return None if None in parts else tuple(symbol for part in parts if part for symbol in part)

    def _whole(self, node: int) -> Text | None:
        """A short text of a node, from those of its parts so far."""
        op, args = self.oracle.ops[node], self.oracle.args[node]
        if op == "sequence":
            return self._joined(args)
        if op == "choice":
            return min(
                (text for part in args if (text := self.shortest[part]) is not None), key=len, default=None
            )
        if op == "repeat":
            return self._joined([args[0]] * args[1])
        if op == "reference":
            return self.shortest[self.oracle.rules[args[0]]]
        starts = self.oracle.starts(node)
        return () if "done" in starts else self._rest(node, starts[0]) if starts else None

    def _rest(self, node: int, progress: object) -> Text | None:
        """What a leaf still needs; other nodes wait for a part, and answer through it."""
        op, args = self.oracle.ops[node], self.oracle.args[node]
        if progress == "done":
            return ()
        if op in REGULAR:
            return self._derived(progress)  # type: ignore[arg-type]
        if op == "special":
            return (special_symbol(args[0]),)
        if op == "literal":
            return tuple(self.oracle.blob[args[0] + progress : args[0] + args[1]])  # type: ignore[operator]
        if op in ("byte_class", "chars", "literals"):
            return self._scanned(node, progress)
        return None

    def _scanned(self, node: int, progress: object) -> Text | None:
        """Breadth first over the states of a leaf."""
        todo: list[tuple[object, Text]] = [(progress, ())]
        for state, text in todo:
            for byte in range(256):
                for after in self.oracle.scan(node, state, byte) or ():
                    if after == "done":
                        return (*text, byte)
                    todo.append((after, (*text, byte)))
        return None

    def _derived(self, term: d.Term) -> Text | None:
        todo: list[tuple[d.Term, Text]] = [(term, ())]
        seen = {term}
        for here, text in todo:
            if d.nullable(here):
                return text
            for byte in d.representatives(here):
                after = self.oracle.terms.after(here, byte)
                if after not in seen:
                    seen.add(after)
                    todo.append((after, (*text, byte)))
        return None
