"""How are many formats made ready before the first request? One by one; errors are collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from maskwright.bitmask import allocate_bitmask
from maskwright.errors import MaskwrightError
from maskwright.index import Index
from maskwright.progress import ProgressBar

if TYPE_CHECKING:
    from maskwright.compiler import Compiler

__all__ = ["Format", "Progress", "prewarm"]

Format = tuple[str, Any] | tuple[str, Any, Mapping[str, Any]] | Callable[["Compiler"], Index]
"""(method, argument), (method, argument, options), or a callable that takes the compiler."""
Progress = Callable[[int, int], object] | Literal[False] | None

KINDS = ("regex", "grammar", "choices", "ir", "json_schema")
"""Methods of the compiler that a format may name."""


def prewarm(compiler: Compiler, formats: Iterable[Format], progress: Progress) -> list[Exception | None]:
    """See `Compiler.prewarm`."""
    listed = list(formats)
    bitmask = allocate_bitmask(1, len(compiler.vocabulary))
    errors: list[Exception | None] = []
    with ProgressBar(len(listed), "formats") as bar:
        for at, form in enumerate(listed):
            errors.append(_error_of(compiler, form, at, bitmask))
            if progress is None:
                bar.step()
            elif progress:
                progress(at + 1, len(listed))
    return errors


def _error_of(compiler: Compiler, form: Format, at: int, bitmask: Any) -> Exception | None:
    # A server starts with the formats that are right, whatever is wrong with the others.
    try:
        _compiled(compiler, form, at).constraint().fill_bitmask(bitmask, 0)
    except Exception as error:
        return error
    return None


def _compiled(compiler: Compiler, form: Format, at: int) -> Index:
    if callable(form):
        return form(compiler)
    kind, argument, options = _taken_apart(form, at)
    compile_: Callable[..., Index] | None = getattr(compiler, kind, None) if kind in KINDS else None
    if compile_ is None:
        known = ", ".join(repr(kind) for kind in KINDS if hasattr(compiler, kind))
        raise _refused(at, f"unknown kind of format {kind!r}", f"there are {known}")
    return compile_(argument, **options)


def _taken_apart(form: object, at: int) -> tuple[str, Any, Mapping[str, Any]]:
    if isinstance(form, tuple | list) and 2 <= len(form) <= 3 and isinstance(form[0], str):
        options = form[2] if len(form) == 3 else {}
        if isinstance(options, Mapping):
            return form[0], form[1], options
    raise _refused(
        at, "no description of a format", "it is (kind, argument), (kind, argument, options) or a callable"
    )


def _refused(at: int, what: str, why: str) -> MaskwrightError:
    return MaskwrightError(what, where=f"format {at}", why=why, code="argument.formats")
