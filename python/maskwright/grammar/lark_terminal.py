"""Which texts does a terminal of Lark stand for? Strings, ranges, regular expressions, what is built of them.

A terminal is a regular language on its own: the texts that Python's `re.fullmatch` accepts for it. It is not
greedy and does not look beyond its ends. Where a part has a lookaround or an anchor, which sees its
neighbours, the whole terminal is lowered as one regular expression; else part by part.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn, cast

from maskwright.errors import GrammarError, LimitError, PatternError
from maskwright.grammar.gbnf_text import TextError, encode
from maskwright.ir import MAX_CODE_POINT, Builder, Node

MAX_PATTERN = 100_000  # characters of a terminal joined into one regular expression

_SEES_NEIGHBOURS = re.compile(r"\(\?<?[=!]|\(\?\(|\\[AbBZ1-9]|(?<!\[)\^|\$")
_LAZY = re.compile(r"[*+?}]\?")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A string or regular expression of a grammar: `kind` is "string", "regexp" or "range"."""

    kind: str
    text: str
    flags: str
    raw: str
    line: int | None
    column: int | None

    @property
    def sees_neighbours(self) -> bool:
        """May it hold a lookaround, an anchor or a back-reference? A guess on the safe side."""
        return self.kind == "regexp" and _SEES_NEIGHBOURS.search(self.text) is not None

    @property
    def lazy(self) -> bool:
        """May it hold a lazy quantifier? A guess on the safe side: an escaped `*` may look like one."""
        return self.kind == "regexp" and _LAZY.search(_ESCAPED.sub("", self.text)) is not None

    def as_regex(self) -> str:
        """The same as one group of a Python regular expression."""
        text = re.escape(self.text) if self.kind == "string" else self.text
        end = "\n)" if "x" in self.flags else ")"  # with x, a comment at the end would swallow the bracket
        return f"(?{self.flags}:{text}{end}"


def shown(text: str, most: int = 60) -> str:
    """A piece of a grammar for a message: not too long, and printable even where it is no valid text."""
    cut = text if len(text) <= most else text[: most - 3] + "..."
    return cut.encode("utf-8", "backslashreplace").decode()


_ESCAPED = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
Lower = Callable[..., Node]


def lower_pattern(builder: Builder, pattern: Pattern, *, where: str) -> Node:
    """The IR of one string, range or regular expression."""
    if pattern.kind == "range":
        low, high = tuple(pattern.text)
        return builder.chars([(ord(low), ord(high))])
    if pattern.kind == "string" and not pattern.flags:
        try:
            return builder.literal(encode(pattern.text))
        except TextError as error:
            _fail(pattern, error.reason, where)
    return lower_regex_text(builder, pattern.as_regex(), pattern, where=where)


def lower_regex_text(builder: Builder, text: str, near: Pattern, *, where: str) -> Node:
    """The IR of a regular expression in Python's dialect, full match; its errors get the place of `near`."""
    if len(text) > MAX_PATTERN:
        raise LimitError(
            f"{where} is a regular expression of {len(text)} characters",
            limit="grammar_pattern",
            value=MAX_PATTERN,
        )
    lower = cast(Lower, import_module("maskwright.regex").lower_regex)
    try:
        return lower(builder, text, "python", search=False)
    except PatternError as error:
        _fail(near, f"cannot enforce the regular expression {shown(near.raw)}: {error.what}", where, error)


def _fail(pattern: Pattern, what: str, where: str, cause: PatternError | None = None) -> NoReturn:
    raise GrammarError(
        what,
        line=pattern.line,
        column=pattern.column,
        why=cause.why if cause else None,
        try_=cause.try_ if cause else None,
        code=f"grammar.{cause.code}" if cause else "grammar.text",
    ) from cause


def lazy_terminal(builder: Builder, parts: list[Pattern], *, where: str) -> Node | None:
    """The IR of a terminal that is a sequence with lazy parts; None where no part is lazy.

    A lazy quantifier says where a terminal stops, which "all texts that match" would lose: `"a" b"` matches
    the pattern of a quoted string. Two shapes have a plain meaning. The one of quoted strings in Lark's
    library (an end mark after an even number of backslashes), and `x .*? y` with fixed `x` and `y`: the
    shortest match, so the texts that match and of which no shorter beginning does. All else is refused.
    """
    if not any(part.lazy for part in parts):
        return None
    if [part.raw for part in parts] == _ESCAPED_STRING:
        return _quoted_string(builder)
    joined = "".join(part.as_regex() for part in parts)
    near = next(part for part in parts if part.lazy)
    if not _stops_at_first(joined):
        raise GrammarError(
            f"cannot enforce the lazy quantifier in {shown(near.raw)}",
            line=near.line,
            column=near.column,
            why="what it leaves out depends on what follows, except between two fixed texts: x.*?y",
            try_='say which characters may come before the end, as in /"[^"]*"/',
            code="grammar.unsupported.lazy",
        )
    body = lower_regex_text(builder, joined, near, where=where)
    some_more = builder.repeat(builder.chars([(0, MAX_CODE_POINT)]), 1, None)
    return builder.intersection([body, builder.complement(builder.sequence([body, some_more]))])


_ESCAPED_STRING = [r'"\""', "/.*?/", r"/(?<!\\)(\\\\)*?/", r'"\""']


def _quoted_string(builder: Builder) -> Node:
    """`ESCAPED_STRING` of Lark's library: on one line, a backslash takes the next character with it."""
    line_end, quote, backslash = 0x0A, 0x22, 0x5C
    plain = builder.chars(
        [
            (0, line_end - 1),
            (line_end + 1, quote - 1),
            (quote + 1, backslash - 1),
            (backslash + 1, MAX_CODE_POINT),
        ]
    )
    any_but_line_end = builder.chars([(0, line_end - 1), (line_end + 1, MAX_CODE_POINT)])
    escape = builder.sequence([builder.literal(b"\\"), any_but_line_end])
    mark = builder.literal(b'"')
    return builder.sequence([mark, builder.repeat(builder.choice([plain, escape]), 0, None), mark])


def _stops_at_first(pattern: str) -> bool:
    """Is it fixed single characters, one lazy repeat of single characters, fixed single characters?

    Read off the tree of the standard library's own parser, which calls a lazy repeat MIN_REPEAT.
    """
    parser = cast(Any, re)._parser  # the only reader of this syntax that cannot disagree with `re`
    try:
        items = _flatten(list(parser.parse(pattern)), parser)
    except re.error:
        return True  # the front end of the regular expression says what is wrong with it, and where
    names = [str(operator) for operator, _ in items]
    if names.count("MIN_REPEAT") != 1:
        return False
    at = names.index("MIN_REPEAT")
    low, high, body = items[at][1]
    return (
        low in (0, 1)
        and high == parser.MAXREPEAT
        and at + 1 < len(items)
        and _is_one_character(_flatten(list(body), parser))
        and all(_is_one_character([item]) for index, item in enumerate(items) if index != at)
    )


def _flatten(items: list[Any], parser: Any) -> list[Any]:
    """Groups that only group are opened. Iterative: nesting is the user's."""
    flat = []
    stack = list(reversed(items))
    while stack:
        item = stack.pop()
        if str(item[0]) == "SUBPATTERN":
            stack.extend(reversed(list(item[1][3])))
        else:
            flat.append(item)
    return flat


def _is_one_character(items: list[Any]) -> bool:
    if len(items) != 1:
        return False
    name, argument = str(items[0][0]), items[0][1]
    if name == "BRANCH":
        return all(_is_one_character(list(branch)) for branch in argument[1])
    return name in ("LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY")
