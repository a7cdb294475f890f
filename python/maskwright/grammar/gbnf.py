"""How is GBNF, the grammar notation of llama.cpp, read?

One regular expression cuts the text into tokens and one loop with its own stack builds the IR while it reads:
no syntax tree, no recursion. So the grammar of JSON takes about a quarter of a millisecond, and a group
50,000 deep is no different from a flat one. `docs/grammars.md` says what is accepted and how it differs from
llama.cpp.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import NoReturn

from maskwright.errors import GrammarError, LimitError
from maskwright.grammar.gbnf_text import TextError, class_ranges, encode, unescape
from maskwright.grammar.special_tokens import known_names, token_id
from maskwright.grammar.usefulness import ParsedGrammar, Place, report
from maskwright.ir import MAX_CODE_POINT, UNBOUNDED, Builder, Node, Rule

MAX_CHARACTERS = 1_000_000  # up to 1.6 microseconds each

# Possessive quantifiers throughout: with others, a run of n blanks at the end of the text takes n * n steps,
# and a string with a million escapes 200 MB of places to come back to.
_TOKEN = re.compile(
    r"""[ \t]*+(?:
      ([A-Za-z0-9_-]++)([ \t]*+::=)?                            # 1 a name; 2 and what makes it a definition
    | "([^"\\]*+(?:\\.[^"\\]*+)*+)"                            # 3 a string
    | ((?:\#[^\r\n]*+)?[\r\n](?:[ \t\r\n]++|\#[^\r\n]*+)*+)      # 4 line ends, with blank lines and comments
    | ([()|])                                                  # 5
    | ([*+?])                                                  # 6
    | \[([^\]\\]*+(?:\\.[^\]\\]*+)*+)\]                        # 7 a character class
    | \{\s*+([0-9]++)\s*+(?:(,)\s*+([0-9]++)?\s*+)?\}            # 8, 9, 10 a range of counts
    | (!?<(?:\[[0-9]++\]|[^<>\[\]\s]++)>)                       # 11 a special token
    | (\.)                                                     # 12
    | (\#[^\r\n]*+|\Z)                                         # 13 a comment that ends the text, or its end
    | (.)                                                      # 14 anything else
    )""",
    re.VERBOSE | re.DOTALL,
)
_LARK = re.compile(r"%(?:import|ignore|declare)\b|[?!]?\w+[ \t]*:(?!:)")
"""How a definition in Lark's notation begins."""
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_Frame = tuple[
    list[Node], list[Node], int
]  # the branches and the parts around a group, and where it was opened


def gbnf_to_ir(text: str, *, root: str = "root", special: Mapping[str, int] | None = None) -> ParsedGrammar:
    r"""The grammar that a GBNF text describes, with notes on useless rules.

    `root` names the rule of the whole text; `special` maps the names of special tokens to ids, for
    `<|name|>`. `GrammarError` with line and column for what cannot be read: an undefined rule, a rule defined
    twice, a grammar without any text. `LimitError` past `MAX_CHARACTERS`.

    >>> parsed = gbnf_to_ir('root ::= "a" root | "b"\nspare ::= [0-9]')
    >>> parsed.grammar.names, [str(note) for note in parsed.notes]
    (('root', 'spare'), ["line 2, column 1: rule 'spare' is never used"])

    Notation: the GBNF guide of llama.cpp (grammars/README.md).
    """
    if len(text) > MAX_CHARACTERS:
        raise LimitError(
            f"the grammar has {len(text)} characters", limit="grammar_characters", value=MAX_CHARACTERS
        )
    return _Parser(text, special or {}).parse(root)


class _Body:
    """What is read of a rule: `branches` and `parts` are open, `stack` has what is open around them."""

    __slots__ = ("branches", "builder", "parts", "stack")

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.branches: list[Node] = []
        self.parts: list[Node] = []
        self.stack: list[_Frame] = []

    def node(self) -> Node:
        """All branches."""
        last = self.builder.sequence(self.parts)
        return self.builder.choice([*self.branches, last]) if self.branches else last

    def take(self, mark: str, match: re.Match[str]) -> bool:
        """A `|`, `(` or `)`, found where `match` is; false for one that closes nothing."""
        if mark == "|":
            self.branches.append(self.builder.sequence(self.parts))
            self.parts = []
        elif mark == "(":
            self.stack.append((self.branches, self.parts, match.start(5)))
            self.branches, self.parts = [], []
        elif self.stack:
            # 500,000 brackets around one part: two calls each are a quarter of their time.
            inner = self.parts[0] if len(self.parts) == 1 and not self.branches else self.node()
            self.branches, self.parts, _ = self.stack.pop()
            self.parts.append(inner)
        else:
            return False
        return True


class _Parser:
    """One reading of one text."""

    __slots__ = ("builder", "defined", "line_starts", "pieces", "references", "rules", "special", "text")

    def __init__(self, text: str, special: Mapping[str, int]) -> None:
        self.text = text
        self.special = special
        self.builder = Builder()
        self.rules: dict[str, Rule] = {}
        self.defined: dict[str, int] = {}  # name -> offset of its definition
        self.references: dict[str, tuple[Node, int]] = {}  # name -> its node, and where it was first used
        self.pieces: dict[str, Node] = {}  # the text of a class -> its node
        self.line_starts: list[int] | None = None

    def parse(self, root: str) -> ParsedGrammar:
        self._read()
        for name, (_, offset) in self.references.items():
            if name not in self.defined:
                self._fail(f"rule {name!r} is not defined", offset, code="grammar.undefined")
        if root not in self.defined:
            others = ", ".join(list(self.defined)[:8])
            raise GrammarError(
                f"there is no rule {root!r}",
                why="it is the rule that the whole text must match",
                try_="define it" + (f", or start= one of: {others}" if others else ""),
                code="grammar.undefined",
            )
        grammar = self.builder.grammar(self.rules[root])
        return report(
            grammar, lambda: {self.rules[name]: self._place(at) for name, at in self.defined.items()}
        )

    def _read(self) -> None:
        """One turn a token, a definition at a time."""
        builder, body = self.builder, _Body(self.builder)
        rule: Rule | None = None
        between = True  # rules: a line end was read that closes the rule
        joins = False  # the last token was `|` or `::=`, after which a line end means nothing
        for match in _TOKEN.finditer(self.text):
            kind = match.lastindex
            if kind == 4:
                between = between or not (body.stack or joins)
            elif kind == 2:
                if not between:
                    self._fail("a definition must start on a new line", match.start(1))
                if rule is not None:
                    builder.define(rule, body.node())
                rule = self._open(match.group(1), match.start(1))
                body, between, joins = _Body(builder), False, True
            elif kind != 13:
                if between:
                    self._go_on(rule, match)
                between = joins = False
                if kind == 5:
                    mark = match[5]
                    joins = mark == "|"
                    if not body.take(mark, match):
                        self._fail("this ) closes nothing", match.start(5))
                else:
                    self._piece(body, kind, match)
        if body.stack:
            self._fail("this ( is never closed", body.stack[-1][2])
        if rule is not None:
            builder.define(rule, body.node())

    def _go_on(self, rule: Rule | None, match: re.Match[str]) -> None:
        """A line that starts with `|` goes on with the rule before it, the one thing it can mean."""
        if rule is None or match.lastindex != 5 or match.group(5) != "|":
            start = _start(match)
            try_ = 'syntax="lark" for Lark\'s notation' if _LARK.match(self.text, start) else None
            self._fail("expected a definition: name ::= ...", start, try_=try_)

    def _piece(self, body: _Body, kind: int | None, match: re.Match[str]) -> None:  # dispatch
        """A token that is part of a rule."""
        if kind == 1:
            body.parts.append(self._reference(match.group(1), match.start(1)))
        elif kind == 3:
            body.parts.append(self._string(match))
        elif kind == 7:
            body.parts.append(self._class(match))
        elif kind == 6 or kind in (8, 9, 10):
            if not body.parts:
                self._fail("there is nothing here to repeat", _start(match))
            least, most = _COUNTS[match.group(6)] if kind == 6 else self._counts(match)
            body.parts[-1] = self.builder.repeat(body.parts[-1], least, most)
        elif kind == 11:
            body.parts.append(self._special(match.group(11), match.start(11)))
        elif kind == 12:
            body.parts.append(self.builder.chars([(0, MAX_CODE_POINT)]))
        else:
            self._unreadable(match.group(14), match.start(14))

    def _open(self, name: str, offset: int) -> Rule:
        if name in self.defined:
            first = self._place(self.defined[name])
            self._fail(
                f"rule {name!r} is defined twice",
                offset,
                why=f"the first definition is at line {first.line}, column {first.column}",
                code="grammar.duplicate",
            )
        self.defined[name] = offset
        return self._rule(name)

    def _rule(self, name: str) -> Rule:
        rule = self.rules.get(name)
        if rule is None:
            rule = self.rules[name] = self.builder.rule(name)
        return rule

    def _reference(self, name: str, offset: int) -> Node:
        found = self.references.get(name)
        if found is None:
            found = self.references[name] = (self.builder.reference(self._rule(name)), offset)
        return found[0]

    def _string(self, match: re.Match[str]) -> Node:
        raw = match.group(3)
        try:
            return self.builder.literal(
                raw.encode() if raw.isascii() and "\\" not in raw else encode(unescape(raw))
            )
        except TextError as error:
            self._fail(error.reason, match.start(3) + error.at)

    def _class(self, match: re.Match[str]) -> Node:
        raw = match.group(7)
        node = self.pieces.get(raw)
        if node is None:
            try:
                node = self.pieces[raw] = self.builder.chars(class_ranges(raw))
            except TextError as error:
                self._fail(error.reason, match.start(7) + error.at)
        return node

    def _counts(self, match: re.Match[str]) -> tuple[int, int | None]:
        low, comma, high = match.group(8, 9, 10)
        at = match.start(8)
        if len(low) > 10 or (high is not None and len(high) > 10):
            self._fail(f"a count must be below {UNBOUNDED}", at)
        least = int(low)
        most = least if comma is None else None if high is None else int(high)
        if least >= UNBOUNDED or (most is not None and most >= UNBOUNDED):
            self._fail(f"a count must be below {UNBOUNDED}", at)
        if most is not None and most < least:
            self._fail("these counts run backwards", at)
        return least, most

    def _special(self, spelling: str, offset: int) -> Node:
        if spelling.startswith("!"):
            self._fail(
                "a negated token cannot be enforced",
                offset,
                why="it is any token but one, and how a text is cut into tokens is not part of a format",
                try_="say which text may come, as in .*; a special token is never text, so none slips in",
                code="grammar.unsupported.negated-token",
            )
        found = token_id(spelling, self.special)
        if found is None:
            numbered = spelling.startswith("<[")
            self._fail(
                f"{spelling} is not a token id" if numbered else f"there is no special token {spelling}",
                offset,
                why="ids are below 2**32 - 1" if numbered else known_names(self.special),
                code="grammar.token",
            )
        return self.builder.special(found)

    def _unreadable(self, character: str, offset: int) -> NoReturn:
        unclosed = {'"': "this string is never closed", "[": "this character class is never closed"}
        reason = unclosed.get(character)
        if character == "{":
            reason = "not a range of counts: {m}, {m,} or {m,n}"
        elif character in "<!":
            reason = "not a token: <|name|> or <[123]>"
        self._fail(reason or f"unexpected {character!r}", offset)

    def _fail(
        self,
        what: str,
        offset: int,
        *,
        why: str | None = None,
        try_: str | None = None,
        code: str | None = None,
    ) -> NoReturn:
        place = self._place(offset)
        raise GrammarError(
            what, line=place.line, column=place.column, why=why, try_=try_, code=code or "grammar.syntax"
        )

    def _place(self, offset: int) -> Place:
        """Line and column of an offset, by a table of the lines that the first call makes."""
        if self.line_starts is None:
            self.line_starts = [0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", self.text))]
        line = bisect_right(self.line_starts, offset)
        return Place(line, offset - self.line_starts[line - 1] + 1)


def _start(match: re.Match[str]) -> int:
    """Where a token starts, after the blanks before it."""
    return match.end() - len(match.group().lstrip(" \t"))
