"""How does a schema become a grammar? Options in, the IR and what was knowingly ignored out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal

from maskwright.errors import GrammarError, MaskwrightError, PatternError, SchemaError, shown_place
from maskwright.ir import Grammar
from maskwright.json_schema.conflict import explain_no_value
from maskwright.json_schema.forms import Form
from maskwright.json_schema.keywords import Draft
from maskwright.json_schema.places import Documents
from maskwright.json_schema.prelude import Prelude, prelude
from maskwright.json_schema.probe import compile_bytes
from maskwright.json_schema.reading import Reader
from maskwright.json_schema.refusals import Unsupported, unsupported
from maskwright.json_schema.schema_text import parse_json
from maskwright.json_schema.spelling import Style
from maskwright.json_schema.whitespace import Whitespace, choose_whitespace
from maskwright.json_schema.write import Writer

__all__ = ["DRAFTS", "Ignored", "Options", "SchemaCompile", "options_of"]

DRAFTS = {"4": Draft.D4, "6": Draft.D6, "7": Draft.D7, "2019-09": Draft.D2019, "2020-12": Draft.D2020}

MAX_IGNORED = 200
"""Keywords dropped by `unsupported="ignore"`: the schema is read anew after each."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A keyword that was dropped knowingly: its JSON Pointer, its name, and why it could not be enforced."""

    pointer: str
    keyword: str
    reason: str


@dataclass(frozen=True, slots=True)
class Options:
    """How a schema is read; `Compiler.json_schema` says what each option means.

    `MaskwrightError` for a value that an option does not have, and for options that contradict each other.
    """

    style: Style = "generate"
    whitespace: Literal["flexible", "compact", "spaced"] | Whitespace | None = None
    indent: int | str | None = None
    property_order: Literal["schema", "any"] | None = None
    formats: Literal["enforce", "annotate"] = "enforce"
    draft: str | None = None
    registry: Any = field(default=None, compare=False)
    unsupported: Literal["error", "ignore"] = "error"
    unknown_keywords: Literal["annotate", "error"] = "annotate"
    ordered: bool = field(init=False, repr=False, compare=False)
    """Whether members come in schema order."""
    begun: Prelude = field(init=False, repr=False, compare=False)
    """What every grammar begins with, by `style`, `whitespace` and `indent`."""
    key: str = field(init=False, repr=False, compare=False)
    """Equal for options that read every schema alike; empty beside a registry, which says too much."""

    def __post_init__(self) -> None:
        _one_of("style", self.style, ("generate", "accept"))
        _one_of("property_order", self.property_order, (None, "schema", "any"))
        _one_of("formats", self.formats, ("enforce", "annotate"))
        _one_of("draft", self.draft, (None, *DRAFTS))
        _one_of("unsupported", self.unsupported, ("error", "ignore"))
        _one_of("unknown_keywords", self.unknown_keywords, ("annotate", "error"))
        if self.style == "accept" and self.property_order == "schema":
            raise MaskwrightError(
                'style="accept" takes members in any order',
                where="property_order",
                try_='property_order="schema" with style="generate"',
                code="argument.property_order",
            )
        layout = choose_whitespace(self.whitespace, self.indent, self.style)
        object.__setattr__(self, "begun", prelude(self.style, layout))
        if not (self.registry is None or isinstance(self.registry, Mapping)):
            raise MaskwrightError(
                "registry must be {uri: schema} or a referencing.Registry, "
                f"not a value of type {type(self.registry).__name__}",
                where="registry",
                code="argument.registry",
            )
        object.__setattr__(self, "ordered", self.style == "generate" and self.property_order != "any")
        object.__setattr__(self, "key", repr(self) if self.registry is None else "")


_REGISTRY = 6
"""Its place among the options: too large to be kept here."""
_known_options = lru_cache(64, typed=True)(Options)
_USUAL: tuple[Any, ...] = ("generate", None, None, None, "enforce", None, None, "error", "annotate")


@cache
def _usual_options() -> Options:
    return Options(*_USUAL)


def options_of(*values: Any) -> Options:
    """The options with these values, in order: the same object again for the same ones, which takes 20 µs
    less, and 24 for those that nobody gave."""
    if values == _USUAL:
        return _usual_options()
    if values[_REGISTRY] is not None:
        return Options(*values)
    try:
        return _known_options(*values)
    except TypeError:  # one of them cannot be hashed; which one, the options say
        return Options(*values)


def _one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        what = f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}"
        raise MaskwrightError(what, where=name, code=f"argument.{name}")


class SchemaCompile:
    """One schema on its way. `grammar` is the result, `ignored` what was dropped."""

    grammar: Grammar
    root: Form

    def __init__(
        self, schema: Any, options: Options, *, write: bool = True, pointer_names: bool = False
    ) -> None:
        self.options = options
        self._pointer_names = pointer_names
        if isinstance(schema, (str, bytes)):
            schema = parse_json(schema)
        if not isinstance(schema, (dict, bool)):
            why = f"the type of this is {type(schema).__name__}"
            what = "a schema is an object or a boolean"
            raise SchemaError(what, pointer="", why=why, code="schema.malformed")
        draft = DRAFTS[options.draft] if options.draft else None
        self.documents = Documents(schema, draft, options.registry)
        self.ignored: list[Ignored] = []
        self._dropped: set[tuple[int, str]] = set()
        self._begin()
        if options.unknown_keywords == "error":
            from maskwright.json_schema.report import refuse_unknown  # noqa: PLC0415 - only where it is asked for

            refuse_unknown(self.documents)
        if write:
            self.write()

    def _begin(self) -> None:
        """Read the schema anew."""
        self.reader = Reader(
            self.documents, assert_formats=self.options.formats == "enforce", ignored=frozenset(self._dropped)
        )
        self.root = self.reader.forms.schema(self.documents.root_place())

    def write(self) -> None:
        """Make the grammar."""
        while True:
            try:
                self.grammar = self._written()
                return
            except Unsupported as refusal:
                if self.options.unsupported == "error" or not self._drop(refusal):
                    raise

    def _written(self) -> Grammar:
        options = self.options
        writer = self._writer = Writer(
            self.reader, options.style, options.begun, options.ordered, pointer_names=self._pointer_names
        )
        try:
            return writer.grammar(self.root)
        except PatternError as error:
            raise self.reader.at_pattern(error) from error
        except MaskwrightError as error:
            if error.where is None and self.reader.place is not None:
                error.where = shown_place(self.reader.place.pointer)
            raise

    def _drop(self, refusal: Unsupported) -> bool:
        """Go on without a keyword; false if that makes no difference."""
        keyword = refusal.keyword or ""
        key = (id(refusal.target), keyword)
        if key in self._dropped or len(self._dropped) >= MAX_IGNORED:
            return False
        self._dropped.add(key)
        self.ignored.append(Ignored(refusal.pointer, keyword, refusal.why or ""))
        self._begin()
        return True

    def retry(self, error: GrammarError) -> None:
        """What to do about an error of the engine: go on without a keyword, or raise it in the words of the
        schema."""
        translated = self._translated(error)
        may_drop = self.options.unsupported == "ignore" and isinstance(translated, Unsupported)
        if not may_drop or not self._drop(translated):  # type: ignore[arg-type]
            raise translated from error
        self.write()

    def engine_sizes(self) -> list[tuple[str, int, int]]:
        """Have the engine compile the grammar, over the 256 bytes: (rule, states, bytes) of its rules, most
        bytes first. Raises what a compiler would: only the engine sees that some schemas have no value."""
        while True:
            try:
                return compile_bytes(self.grammar)
            except GrammarError as error:
                self.retry(error)

    def _translated(self, error: GrammarError) -> MaskwrightError:
        if error.code == "grammar.empty":
            return explain_no_value(self.reader, self.root)
        if self._writer.needed and error.what.startswith("a member must be there"):
            some = self._writer.needed[0]
            return unsupported(some.place, some.keyword, f"{error.what}: {error.why}")
        if self._writer.compared:
            why = f"{error.what}: {error.why}" if error.why else error.what
            return unsupported(self._writer.compared[0], "uniqueItems", why)
        return error
