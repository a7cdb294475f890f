"""What does a Lark grammar text hold, before Lark's own loader reads it?

The loader knows nothing of special tokens, gives no place for an undefined or doubled name, reads files for
some imports, and its regular expressions take exponential time on an unclosed `/`. So the text is first cut
into marks here, in linear time: special tokens become terminal names of the same length, comments and blank
lines go, and what Maskwright refuses is refused with its line and column. Columns stay; `lines` leads back to
the lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from maskwright.errors import GrammarError, LimitError
from maskwright.grammar.special_tokens import known_names, token_id
from maskwright.grammar.usefulness import Place

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 100  # brackets; the loader recurses about three frames a bracket, and Python stops at 1,000
MAX_MARKS = 30_000  # names, strings and signs; the loader takes about 50 microseconds for each
MAX_TERMINAL_WORK = (
    50_000  # marks of terminals with references written out: the loader walks all, some 20 times
)

LIBRARIES = frozenset({"common"})

_MARK = re.compile(
    r"""(?P<newline>\r?\n(?:[ \t]*+\r?\n)*+)
    | (?P<comment>//[^\n]*|\#[^\n]*)
    | (?P<string>"(?:\\.|[^"\\\n])*+"i?)
    | (?P<regexp>/(?:\\.|[^/\\])*+/[imslux]*)
    | (?P<special><\|[^|<>\s]+\|>|<\[[0-9]+\]>)
    | (?P<name>_*[A-Za-z][A-Za-z0-9_]*)
    | (?P<directive>%[a-z]+)
    | (?P<continued>\\[ ]*\r?\n)
    | (?P<number>[+-]?[0-9]+)
    | (?P<sign>->|\.\.|[()\[\]{}|:,.~?*+!])
    | (?P<blank>[ \t]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Mark:
    """One piece of the text: what kind, its characters, and where it starts."""

    kind: str
    text: str
    offset: int


@dataclass(slots=True)
class LarkSource:
    """A text made ready: `clean` for the loader, the user's line of each of its lines, what its names are."""

    text: str
    clean: str = ""
    lines: list[int] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)  # name of a declared terminal -> special token id
    defined: dict[str, int] = field(default_factory=dict)  # rule or terminal -> offset of its definition
    imported: set[str] = field(default_factory=set)
    uses: dict[str, list[str]] = field(default_factory=dict)  # terminal -> the names in its definition
    sizes: dict[str, int] = field(default_factory=dict)  # terminal -> marks in its definition
    starts: list[int] = field(default_factory=list)

    def place(self, offset: int) -> Place:
        """Line and column of an offset into `text`."""
        line = bisect_right(self.starts, offset)
        return Place(line, offset - self.starts[line - 1] + 1)

    def place_in(self, message: str) -> Place | None:
        """The place a message of the loader is about: an import that it names, else its last known name."""
        names = [name for name in re.findall(r"\w+", message) if name in self.defined]
        chosen = [name for name in names if name in self.imported] or names
        return self.place_of(chosen[-1]) if chosen else None

    def place_of(self, name: str) -> Place | None:
        """Where a rule or terminal of this text is defined."""
        offset = self.defined.get(name)
        return None if offset is None else self.place(offset)

    def fail(
        self, what: str, offset: int, *, why: str | None = None, try_: str | None = None, code: str
    ) -> NoReturn:
        """Raise a `GrammarError` at an offset."""
        place = self.place(offset)
        raise GrammarError(what, line=place.line, column=place.column, why=why, try_=try_, code=code)


def read_source(text: str, special: Mapping[str, int]) -> LarkSource:
    """Cut the text into marks, check what can be checked on them, and rewrite it for the loader."""
    if len(text) > MAX_CHARACTERS:
        raise LimitError(
            f"the grammar has {len(text)} characters", limit="grammar_characters", value=MAX_CHARACTERS
        )
    source = LarkSource(text)
    source.starts = [0, *(match.end() for match in re.finditer("\n", text))]
    marks = _marks(source)
    meant = sum(mark.kind not in ("newline", "comment", "blank", "continued") for mark in marks)
    if meant > MAX_MARKS:
        raise LimitError(
            f"the grammar has {meant} names, strings and signs",
            limit="grammar_marks",
            value=MAX_MARKS,
            try_="write it in GBNF, which has no loader to wait for",
        )
    _check_notation(source, marks)
    _check_marks(source, marks)
    statements = list(_statements(marks))
    _find_definitions(source, statements)
    spelled = _name_specials(source, marks, special)
    _declare(source, statements, special)
    _check_names(source, statements, spelled)
    _check_terminal_work(source)
    _rewrite(source, marks, spelled)
    return source


def _marks(source: LarkSource) -> list[Mark]:
    """The text cut up. Stops at the first open quote, or each would be searched to the end in vain."""
    marks = []
    for match in _MARK.finditer(source.text):
        mark = Mark(str(match.lastgroup), match.group(), match.start())
        if mark.kind == "other" and mark.text in '"/':
            what = "string" if mark.text == '"' else "regular expression"
            source.fail(f"this {what} is never closed", mark.offset, code="grammar.syntax")
        marks.append(mark)
    return marks


def _check_notation(source: LarkSource, marks: list[Mark]) -> None:
    """Lark's loader would say of GBNF only that it did not expect a colon."""
    for first, second, third in zip(marks, marks[1:], marks[2:], strict=False):
        if first.text == second.text == ":" and third.text == "=":
            source.fail(
                "::= is not Lark's notation",
                first.offset,
                why="a rule of Lark is written name: ...",
                try_='syntax="gbnf"',
                code="grammar.syntax",
            )


def _check_marks(source: LarkSource, marks: list[Mark]) -> None:
    """Brackets match and are not too deep: the loader recurses on them."""
    stack: list[Mark] = []
    for mark in marks:
        if mark.kind != "sign":
            continue
        if mark.text in _OPEN:
            stack.append(mark)
            if len(stack) > MAX_DEPTH:
                place = source.place(mark.offset)
                raise LimitError(
                    f"brackets are nested more than {MAX_DEPTH} deep",
                    limit="grammar_nesting",
                    value=MAX_DEPTH,
                    where=f"line {place.line}, column {place.column}",
                    try_="give the inner parts names of their own: rules may call each other to any depth",
                )
        elif mark.text in _CLOSE:
            if not stack or _OPEN[stack[-1].text] != mark.text:
                source.fail(f"this {mark.text} closes nothing", mark.offset, code="grammar.syntax")
            stack.pop()
    if stack:
        source.fail(f"this {stack[-1].text} is never closed", stack[-1].offset, code="grammar.syntax")


def _statements(marks: list[Mark]) -> Iterator[list[Mark]]:
    """The marks that mean something, by statements: a new line starts one unless it goes on with `|`."""
    statement: list[Mark] = []
    fresh = True
    for mark in marks:
        if mark.kind == "newline":
            fresh = True
        elif mark.kind not in ("comment", "blank", "continued"):
            if fresh and statement and mark.text != "|":
                yield statement
                statement = []
            fresh = False
            statement.append(mark)
    if statement:
        yield statement


def _is_terminal(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


def _head(statement: list[Mark]) -> tuple[Mark, int] | None:
    """The name that a statement defines and the index after it; None for `%import` and its like."""
    at = 0
    if statement[0].text in ("%extend", "%override"):
        at = 1
    while at < len(statement) and statement[at].text in ("?", "!"):
        at += 1
    if at < len(statement) and statement[at].kind == "name":
        return statement[at], at + 1
    return None


def _find_definitions(source: LarkSource, statements: list[list[Mark]]) -> None:
    for statement in statements:
        head = _head(statement)
        if head is None:
            continue
        name, at = head
        if at + 1 < len(statement) and statement[at].text == "." and statement[at + 1].kind == "number":
            source.fail(
                "a priority cannot be enforced",
                statement[at].offset,
                why="it chooses among the readings of one text; a format says only which texts there are",
                try_="leave it out",
                code="grammar.unsupported.priority",
            )
        if statement[0].text.startswith("%"):
            continue
        if name.text in source.defined:
            first = source.place(source.defined[name.text])
            kind = "terminal" if _is_terminal(name.text) else "rule"
            source.fail(
                f"{kind} {name.text!r} is defined twice",
                name.offset,
                why=f"the first definition is at line {first.line}, column {first.column}",
                code="grammar.duplicate",
            )
        source.defined[name.text] = name.offset


def _name_specials(source: LarkSource, marks: list[Mark], special: Mapping[str, int]) -> dict[str, str]:
    """A free terminal name of the same length for each special token, so that no column moves."""
    taken = {mark.text for mark in marks if mark.kind == "name"}
    spelled: dict[str, str] = {}
    for mark in marks:
        if mark.kind != "special" or mark.text in spelled:
            continue
        found = token_id(mark.text, special)
        if found is None:
            numbered = mark.text.startswith("<[")
            source.fail(
                f"{mark.text} is not a token id" if numbered else f"there is no special token {mark.text}",
                mark.offset,
                why="ids are below 2**32 - 1" if numbered else known_names(special),
                code="grammar.token",
            )
        name = _free_name(len(mark.text), taken)
        taken.add(name)
        spelled[mark.text] = name
        source.tokens[name] = found
    return spelled


def _free_name(length: int, taken: set[str]) -> str:
    """`Z` and a number in base 36, at least five characters: more names than any text can use up."""
    number = len(taken)
    while True:
        digits = ""
        rest = number
        while rest:
            rest, digit = divmod(rest, 36)
            digits = _ALPHABET[digit] + digits
        name = "Z" + digits.rjust(length - 1, "0")
        if name not in taken:
            return name
        number += 1


def _declare(source: LarkSource, statements: list[list[Mark]], special: Mapping[str, int]) -> None:
    """`%declare NAME` is a special token of that name, or nothing that a text could hold."""
    for statement in statements:
        if statement[0].text != "%declare":
            continue
        for mark in statement[1:]:
            if mark.kind != "name":
                continue
            found = special.get(mark.text, special.get(f"<|{mark.text}|>"))
            if found is None or not _is_terminal(mark.text):
                source.fail(
                    f"%declare {mark.text} names no special token",
                    mark.offset,
                    why="a declared terminal has no text of its own; " + known_names(special),
                    code="grammar.unsupported.declare",
                )
            source.tokens[mark.text] = found
            source.defined.setdefault(mark.text, mark.offset)


def _check_names(source: LarkSource, statements: list[list[Mark]], spelled: Mapping[str, str]) -> None:
    """Every used name has a definition; no token inside a terminal; no import but from the library."""
    known = set(source.defined)
    for statement in statements:
        if statement[0].text == "%import":
            known.update(_imported(source, statement))
    for statement in statements:
        if statement[0].text in ("%import", "%declare"):
            continue
        head = _head(statement)
        at = 1 if head is None else head[1]
        params: set[str] = set()
        if head is not None and at < len(statement) and statement[at].text == "{":
            while at < len(statement) and statement[at].text != ":":
                params.add(statement[at].text)
                at += 1
        _check_body(source, statement, at, known | params if params else known)
        if head is not None and _is_terminal(head[0].text):
            _check_terminal(source, head[0].text, statement[at:], spelled)


def _check_body(source: LarkSource, statement: list[Mark], at: int, known: set[str]) -> None:
    for index in range(at, len(statement)):
        mark = statement[index]
        if mark.kind == "name" and mark.text not in known and statement[index - 1].text != "->":
            kind = "terminal" if _is_terminal(mark.text) else "rule"
            source.fail(f"{kind} {mark.text!r} is not defined", mark.offset, code="grammar.undefined")


def _check_terminal(source: LarkSource, name: str, body: list[Mark], spelled: Mapping[str, str]) -> None:
    uses = source.uses.setdefault(name, [])
    for mark in body:
        declared = spelled.get(mark.text, mark.text)
        if declared in source.tokens:
            source.fail(
                f"a special token cannot be part of a terminal ({name})",
                mark.offset,
                why="a terminal is text, and a special token is none",
                try_="name it in a rule",
                code="grammar.token",
            )
        if mark.kind == "name":
            uses.append(mark.text)
    source.sizes[name] = source.sizes.get(name, 0) + len(body)


def _imported(source: LarkSource, statement: list[Mark]) -> list[str]:
    """The names that an import brings in. Only from Lark's own library: a grammar text reads no files."""
    path = statement[1].text if len(statement) > 1 else ""
    if path not in LIBRARIES:
        source.fail(
            "only %import common.NAME is supported",
            statement[0].offset,
            why="other imports read files, and the text of a grammar must stand for itself",
            try_="copy the definitions into the grammar",
            code="grammar.unsupported.import",
        )
    names = [mark.text for mark in statement[2:] if mark.kind == "name"]
    aliased = any(mark.text == "->" for mark in statement)
    brought = names[-1:] if aliased else names
    source.imported.update(brought)
    for name in brought:
        source.defined.setdefault(name, statement[0].offset)
    return brought


def _check_terminal_work(source: LarkSource) -> None:
    """The loader walks each terminal with all its references written out: add that up before it does."""
    written_out: dict[str, int] = {}
    work = 0
    for name in source.uses:
        work += _written_out(source, name, written_out)
        if work > MAX_TERMINAL_WORK:
            place = source.place_of(name)
            raise LimitError(
                "the terminals of the grammar refer to one another too much",
                limit="grammar_terminal_work",
                value=MAX_TERMINAL_WORK,
                where=f"line {place.line}, terminal {name!r}" if place else f"terminal {name!r}",
                try_="make the outer terminals rules",
            )


def _written_out(source: LarkSource, name: str, known: dict[str, int]) -> int:
    """The marks of a terminal with its references replaced by what they stand for; no cycles."""
    open_names: dict[str, None] = {}
    stack = [name]
    while stack:
        at = stack[-1]
        if at in known:
            stack.pop()
            continue
        uses = source.uses.get(at, ())
        if at in open_names:
            known[at] = source.sizes.get(at, 0) + sum(known[used] for used in uses)
            del open_names[at]
            stack.pop()
            continue
        open_names[at] = None
        for used in dict.fromkeys(uses):
            if used in open_names:
                source.fail(
                    f"terminal {used!r} refers to itself",
                    source.defined[used],
                    why="recursion is for rules; a terminal is regular",
                    code="grammar.recursive-terminal",
                )
            stack.append(used)
    return known[name]


def _rewrite(source: LarkSource, marks: list[Mark], spelled: Mapping[str, str]) -> None:
    """The text without comments and blank lines, which would cost the loader quadratic time."""
    rows: list[str] = []
    row: list[str] = []
    start = 1
    for mark in [*marks, Mark("newline", "\n", len(source.text))]:
        if mark.kind == "newline":
            line = "".join(row).rstrip(" \t")
            if line:
                rows.append(line)
                # A regular expression with the x flag, and a \ at the end, make one row of several lines.
                source.lines.extend(range(start, start + line.count("\n") + 1))
            row = []
            start = source.place(mark.offset + len(mark.text)).line
        elif mark.kind != "comment":
            row.append(spelled.get(mark.text, mark.text) if mark.kind == "special" else mark.text)
    declared = "".join(f"\n%declare {name}" for name in spelled.values())
    source.clean = "\n".join(rows) + declared + "\n"
