"""What can go wrong: the whole tree of exceptions.

    MaskwrightError (also a ValueError)
    ├── PatternError        a regex that cannot be read or enforced; offset into the pattern
    ├── SchemaError         a JSON Schema that cannot be enforced; JSON Pointer into the schema
    ├── GrammarError        a grammar that cannot be read or enforced; line and column
    ├── LimitError          a ceiling on work or memory was reached; which one, its value, the place
    ├── TokenNotAllowed     a token outside the mask was given to a constraint
    ├── VocabularyError     a tokenizer that cannot be read, or a vocabulary that lacks what a format needs
    └── InternalError       a defect of this library, never of its input

Every error carries `where`, `why`, `try_` and a stable `code`; its text is drawn from them once.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "GrammarError",
    "InternalError",
    "LimitError",
    "MaskwrightError",
    "PatternError",
    "SchemaError",
    "TokenNotAllowed",
    "VocabularyError",
]


class MaskwrightError(ValueError):
    """The root of the tree. Fields: `what`, `where`, `why`, `try_` (what to do about it), `code`.

    >>> print(MaskwrightError("no row 2", where="row", why="the bitmask has 1", code="argument.row"))
    no row 2
      at    row
      why   the bitmask has 1
      code  argument.row
    """

    default_code = "maskwright"

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        why: str | None = None,
        try_: str | None = None,
        code: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.why = why
        self.try_ = try_
        self.code = code or self.default_code
        super().__init__(what)

    def __str__(self) -> str:
        rows = (("at", self.where), ("why", self.why), ("try", self.try_), ("code", self.code))
        lines = [f"  {name:<5} {_indented(text)}" for name, text in rows if text]
        return "\n".join([self.what, *lines])

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the default would call the class with `what` alone, and most need more."""
        return _without_fields, (type(self), self.what), self.__dict__.copy()


def _without_fields(cls: type[MaskwrightError], what: str) -> MaskwrightError:
    return cls.__new__(cls, what)


def _indented(text: str) -> str:
    """Align the second and later lines of a field (a caret line, say) under its first."""
    return text.replace("\n", "\n        ")


class PatternError(MaskwrightError):
    """A pattern that cannot be read or enforced. `offset` is where, in characters of `pattern`."""

    default_code = "pattern"

    def __init__(
        self,
        what: str,
        *,
        pattern: str,
        offset: int,
        why: str | None = None,
        try_: str | None = None,
        code: str | None = None,
    ) -> None:
        self.pattern = pattern
        self.offset = offset
        super().__init__(what, where=_caret(pattern, offset), why=why, try_=try_, code=code)


def _caret(pattern: str, offset: int, width: int = 60) -> str:
    """Draw the part of the pattern around `offset` with a caret under it."""
    start = max(0, offset - width // 2)
    shown = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in pattern[start : start + width]
    )
    return f"offset {offset}\n{shown}\n{' ' * (offset - start)}^"


class SchemaError(MaskwrightError):
    """A JSON Schema that cannot be enforced. `pointer` is a JSON Pointer to the place of `keyword`, after the
    URI and a `#` in a document of the registry."""

    default_code = "schema"

    def __init__(
        self,
        what: str,
        *,
        pointer: str,
        keyword: str | None = None,
        why: str | None = None,
        try_: str | None = None,
        code: str | None = None,
    ) -> None:
        self.pointer = pointer
        self.keyword = keyword
        super().__init__(what, where=shown_place(pointer), why=why, try_=try_, code=code)


def shown_place(pointer: str) -> str:
    """A JSON Pointer as a URI fragment; one in another document has the URI of that already.

    >>> shown_place("/type"), shown_place("urn:x#/type")
    ('#/type', 'urn:x#/type')
    """
    return f"#{pointer}" if pointer == "" or pointer.startswith("/") else pointer


class GrammarError(MaskwrightError):
    """A grammar that cannot be read or enforced. `line` and `column` count from 1."""

    default_code = "grammar"

    def __init__(
        self,
        what: str,
        *,
        line: int | None = None,
        column: int | None = None,
        rule: str | None = None,
        why: str | None = None,
        try_: str | None = None,
        code: str | None = None,
    ) -> None:
        self.line = line
        self.column = column
        self.rule = rule
        place = (
            f"line {line}" + (f", column {column}" if column is not None else "")
            if line is not None
            else None
        )
        named = f"rule {rule!r}" if rule is not None else None
        super().__init__(
            what, where=", ".join(filter(None, (place, named))) or None, why=why, try_=try_, code=code
        )


class LimitError(MaskwrightError):
    """A ceiling on work or memory was reached. `limit` names it, `value` is its setting."""

    default_code = "limit"

    def __init__(
        self,
        what: str,
        *,
        limit: str,
        value: int,
        where: str | None = None,
        why: str | None = None,
        try_: str | None = None,
    ) -> None:
        self.limit = limit
        self.value = value
        super().__init__(what, where=where, why=why, try_=try_, code=f"limit.{limit}")


class TokenNotAllowed(MaskwrightError):
    """A token outside the mask was given to a constraint, which is unchanged. `token_id` is the token."""

    default_code = "token"

    def __init__(
        self,
        what: str,
        *,
        token_id: int,
        where: str | None = None,
        why: str | None = None,
        try_: str | None = None,
    ) -> None:
        self.token_id = token_id
        super().__init__(what, where=where, why=why, try_=try_)


class VocabularyError(MaskwrightError):
    """A tokenizer that cannot be read, or a vocabulary that lacks bytes which the format needs."""

    default_code = "vocabulary"


class InternalError(MaskwrightError):
    """A defect of this library. The object that raised it stays usable; please report it."""

    default_code = "internal"
