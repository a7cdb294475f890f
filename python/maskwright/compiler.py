"""How does a format become an index? The `Compiler`: one for each vocabulary, with a cache of formats."""

from __future__ import annotations

import operator
import os
import time
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from hashlib import blake2b
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from maskwright._native import Constraint, EngineIndex, __version__, fill_bitmasks
from maskwright.choices import choices_to_ir, encoded
from maskwright.errors import GrammarError, LimitError, MaskwrightError, PatternError, VocabularyError
from maskwright.format_cache import FormatCache
from maskwright.index import Index
from maskwright.ir import Grammar
from maskwright.limits import Limits
from maskwright.prewarm import Format, Progress, prewarm
from maskwright.regex import Dialect, regex_to_ir
from maskwright.vocabulary import Vocabulary
from maskwright.vocabulary_cache import engine_vocabulary

if TYPE_CHECKING:
    from maskwright.json_schema import Options, SchemaCompile, Whitespace

__all__ = ["Compiler"]

Syntax = Literal["lark", "gbnf"]
Read = Callable[[], tuple[Grammar, Sequence[Any]]]
"""A front end's work: the format, and what it has to say about it."""

_UNNAMED = count()
"""For schemas without a text that says all: each is a new one to the cache."""

MAX_KEPT_TEXT = 8_000
"""Characters of a schema that stand for themselves in the cache: a digest takes 25 µs in a busy process."""

DEFAULT_CACHE_BYTES = 512 << 20
"""Room for some thousands of formats in use."""


class Compiler:
    """Compiles formats for one vocabulary and keeps those used last. Safe to use from many threads.

    Args:
        vocabulary: the model's table of tokens.
        cache_bytes: what compiled formats may hold together; the newest is kept whatever it holds.
        limits: ceilings on the work and memory of each format.
        threads: how many `fill_bitmasks` uses, by default one a core.
        cache_dir: where the engine's form of the vocabulary is kept between processes: for 128,000 tokens
            a file of 8 MB, read in 7 ms instead of made in 65. By default nothing is written.

    Raises `MaskwrightError` for arguments out of range, and where `cache_dir` cannot be written to. No
    thread is started here; a process forked later can use the compiler.

    >>> from maskwright import Compiler, Vocabulary
    >>> compiler = Compiler(Vocabulary.from_tokens([b"yes", b"no", b"y", None], eos_id=3))
    >>> constraint = compiler.choices(["yes", "no"]).constraint()
    >>> constraint.mask().tolist()
    [True, True, True, False]
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        limits: Limits | None = None,
        threads: int | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        _check("vocabulary", vocabulary, isinstance(vocabulary, Vocabulary), "a Vocabulary")
        _check("limits", limits, limits is None or isinstance(limits, Limits), "Limits or None")
        _check("cache_bytes", cache_bytes, _is_int(cache_bytes, 0), "an int from 0 on")
        _check("threads", threads, threads is None or _is_int(threads, 1), "an int from 1 on, or None")
        self.vocabulary = vocabulary
        self.limits = limits or Limits()
        self.threads = threads or os.cpu_count() or 1
        self._cache = FormatCache(cache_bytes)
        begin = time.perf_counter()
        self._native = engine_vocabulary(vocabulary, cache_dir)
        self._vocabulary_seconds = time.perf_counter() - begin
        self._limits = self.limits.as_words()
        identity = f"{vocabulary.fingerprint()} {self.limits} {__version__}"
        self._identity = identity.encode()
        self._lock = Lock()
        self._compile_seconds = 0.0
        self._failures = 0

    def regex(self, pattern: str | bytes, dialect: Dialect = "python") -> Index:
        r"""The texts that match the whole pattern.

        `dialect` is `"python"` (`re` on `str`, texts in UTF-8), `"python-bytes"` (`re` on bytes) or
        `"ecma"` (ECMA-262, with the `u` flag where the pattern allows). Raises `PatternError` with the
        place in the pattern, also for one that no text matches, `LimitError`, and `VocabularyError` if the
        vocabulary lacks bytes that are needed.

        >>> from maskwright import Compiler, Vocabulary
        >>> compiler = Compiler(Vocabulary.from_tokens([b"12", b"1", b"-", b"x", None], eos_id=4))
        >>> constraint = compiler.regex(r"\d{3}-\d+").constraint()
        >>> constraint.try_advance([0, 1, 2, 3])
        3
        """
        dialects = ("python", "python-bytes", "ecma")
        _check("dialect", dialect, dialect in dialects, "'python', 'python-bytes' or 'ecma'")
        kind = bytes if dialect == "python-bytes" else str
        wanted = f"a {kind.__name__} for the dialect {dialect!r}"
        other = 'dialect="python-bytes"' if isinstance(pattern, bytes) else None
        _check("pattern", pattern, isinstance(pattern, kind), wanted, try_=other)
        return self._compile(("regex", pattern, dialect), lambda: (regex_to_ir(pattern, dialect), ()))

    def grammar(self, text: str, syntax: Syntax = "lark", *, start: str | None = None) -> Index:
        """The texts of a grammar in Lark's notation or in llama.cpp's GBNF.

        `start` names the rule of the whole text: by default `start` in Lark's notation, `root` in GBNF.
        Special tokens are named as `<|name|>` or `<[id]>`. Raises `GrammarError` with line and column,
        `LimitError`, and `VocabularyError` if the vocabulary lacks bytes that are needed.

        >>> from maskwright import Compiler, Vocabulary
        >>> compiler = Compiler(Vocabulary.from_tokens([b"(", b")", b"()", b"))", None], eos_id=4))
        >>> index = compiler.grammar('root ::= "(" root ")" | ""', "gbnf")
        >>> index.constraint().count_allowed([0, 2, 1, 4])
        4
        """
        _check("text", text, isinstance(text, str), "a str")
        _check("syntax", syntax, syntax in ("lark", "gbnf"), "'lark' or 'gbnf'")
        return self._compile(
            ("grammar", text, syntax, start), lambda: self._read_grammar(text, syntax, start)
        )

    def choices(self, texts: Iterable[str | bytes]) -> Index:
        """Any one of the texts; a `str` stands for its UTF-8.

        The empty text is one too, and a repeated one counts once. Raises `MaskwrightError` for no texts and
        for what is neither, `VocabularyError`, and `LimitError`.
        """
        words = encoded(texts)
        digest = blake2b(array("Q", map(len, words)))
        digest.update(b"".join(words))
        return self._compile(
            ("choices", digest.digest()), lambda: (choices_to_ir(words), ()), f"{len(words)} choices"
        )

    def json_schema(
        self,
        schema: dict[str, Any] | bool | str | bytes,
        *,
        style: Literal["generate", "accept"] = "generate",
        whitespace: Literal["flexible", "compact", "spaced"] | Whitespace | None = None,
        indent: int | str | None = None,
        property_order: Literal["schema", "any"] | None = None,
        formats: Literal["enforce", "annotate"] = "enforce",
        draft: str | None = None,
        registry: Any = None,
        unsupported: Literal["error", "ignore"] = "error",
        unknown_keywords: Literal["annotate", "error"] = "annotate",
    ) -> Index:
        """The JSON texts whose value satisfies a schema: a dict, a boolean, or JSON text.

        JSON text keeps numbers that a Python float would round.

        style             "generate": what a model should write. "accept": every JSON text that validates,
                          any member order, any white space, any spelling
        whitespace        "flexible" (the default), "compact", "spaced" (as `json.dumps` writes) or a
                          `Whitespace`
        indent            as in `json.dumps(indent=..)`
        property_order    "schema" (the default of "generate") or "any"
        formats           whether `format` is enforced or only an annotation
        draft             "4", "6", "7", "2019-09" or "2020-12"; None: by `$schema`, else 2020-12 with the
                          older keywords
        registry          {uri: schema} or a `referencing.Registry`, for references to other documents
        unsupported       "ignore": drop what cannot be enforced; `index.ignored` lists place, keyword and
                          reason
        unknown_keywords  "error": refuse what the draft does not know

        Raises `SchemaError` with the JSON Pointer, and `LimitError`; `ValueError` for options that contradict
        each other.

        >>> from maskwright import Compiler, Vocabulary
        >>> compiler = Compiler(Vocabulary.from_tokens([b"1", b"0", b"-", b"x", None], eos_id=4))
        >>> compiler.json_schema({"type": "integer"}).constraint().mask().tolist()
        [True, True, True, False, False]
        """
        _, options_of = _schema_front_end()
        options = options_of(
            style, whitespace, indent, property_order, formats, draft, registry, unsupported, unknown_keywords
        )
        text = schema if isinstance(schema, str) else _schema_text(schema)
        return self._compile_schema(schema, options, text if registry is None else None)

    def json_object(
        self, *, whitespace: Literal["flexible", "compact", "spaced"] | Whitespace | None = None
    ) -> Index:
        """Any JSON object."""
        return self.json_schema({"type": "object"}, whitespace=whitespace)

    def ir(self, grammar: Grammar) -> Index:
        """A format that is given in the engine's own terms (`maskwright.ir`)."""
        _check("grammar", grammar, isinstance(grammar, Grammar), "a maskwright.ir.Grammar")
        return self._compile(("ir", grammar.key), lambda: (grammar, ()))

    async def regex_async(self, pattern: str | bytes, dialect: Dialect = "python") -> Index:
        """`regex` on a thread of the event loop, so that it overlaps with the prefill."""
        return await _on_a_thread(self.regex, pattern, dialect)

    async def grammar_async(self, text: str, syntax: Syntax = "lark", *, start: str | None = None) -> Index:
        """`grammar` on a thread of the event loop."""
        return await _on_a_thread(self.grammar, text, syntax, start=start)

    async def json_schema_async(self, schema: dict[str, Any] | bool | str | bytes, **options: Any) -> Index:
        """`json_schema`, with its options, on a thread of the event loop."""
        return await _on_a_thread(self.json_schema, schema, **options)

    async def choices_async(self, texts: Iterable[str | bytes]) -> Index:
        """`choices` on a thread of the event loop."""
        return await _on_a_thread(self.choices, texts)

    def prewarm(self, formats: Iterable[Format], progress: Progress = None) -> list[Exception | None]:
        """Compile formats and make their first masks, so that no request has to wait for them.

        A format is a tuple of a method's name, its argument and, if need be, a dict of its options, or a
        callable that takes the compiler and returns an index. `progress` is called with (done, total) after
        each; None draws a bar where the standard error is a terminal, False nothing. Returns for each
        format its error or None: one that cannot be compiled does not stop the others. What does not fit
        into `cache_bytes` is dropped again, first come first.

        >>> from maskwright import Compiler, Vocabulary
        >>> compiler = Compiler(Vocabulary.from_tokens([b"a", b"b", None], eos_id=2))
        >>> errors = compiler.prewarm([
        ...     ("regex", "[ab]+"),
        ...     ("regex", "[ab"),
        ...     ("grammar", 'root ::= "a"', {"syntax": "gbnf"}),
        ...     lambda compiler: compiler.choices(["a", "b"]),
        ... ])
        >>> [type(error).__name__ for error in errors]
        ['NoneType', 'PatternError', 'NoneType', 'NoneType']
        """
        return prewarm(self, formats, progress)

    def fill_bitmasks(
        self,
        constraints: Sequence[Constraint | None],
        bitmask: Any,
        rows: Sequence[int] | None = None,
    ) -> list[Exception | None] | None:
        """Fill a row for each constraint, cold masks over `threads` threads.

        `bitmask` is int32 [n, words]; `rows` says which row each constraint has, by default its own place.
        The row of a None is that of a request without a format: it allows every token, special ones and the
        end too, and only ids without a token are masked. Rows that are not listed stay as they are. Returns
        None, or for each constraint its error or None: a row with an error is all zero, and the others are
        filled. Raises `MaskwrightError` for a row that there is not, or that is given twice.
        """
        native_rows = None if rows is None else [operator.index(row) for row in rows]
        return fill_bitmasks(list(constraints), bitmask, native_rows, self._native, self.threads)

    def stats(self) -> dict[str, Any]:
        """What is kept and what it took.

        `formats` compiled formats hold `bytes`; `hits`, `misses` and `evicted` count them.
        `compile_seconds` is the time spent compiling, `failures` how many formats had an error. The
        vocabulary holds `vocabulary_bytes`, with the `parts` of classes of characters that all formats
        share, and took `vocabulary_seconds`.
        """
        return {
            **self._cache.stats(),
            "compile_seconds": self._compile_seconds,
            "failures": self._failures,
            "vocabulary_bytes": self._native.n_bytes,
            "parts": self._native.n_parts,
            "vocabulary_seconds": self._vocabulary_seconds,
        }

    def __repr__(self) -> str:
        kept = self._cache.stats()
        size = f"{kept['formats']} formats kept in {kept['bytes']:,} bytes"
        return f"<Compiler for {len(self.vocabulary)} ids, {size}>"

    def _compile(
        self, source: tuple[Any, ...], read: Read, name: str | None = None, source_key: Hashable = None
    ) -> Index:
        """The index of `source`, which says all that matters, and so does `source_key` if there is one."""
        if source_key is None:
            # A text may be large: what is kept of it is a digest. repr tells 1 from True, and str from bytes.
            source_key = blake2b(repr(source).encode()).digest()
        found = self._cache.find(source_key)
        if found is not None:
            return found
        begin = time.perf_counter()
        failed = True
        try:
            index = self._made(source, source_key, read, name or _shortened(source))
            failed = False
        finally:
            with self._lock:
                self._compile_seconds += time.perf_counter() - begin
                self._failures += failed
        return index

    def _made(self, source: tuple[Any, ...], source_key: Hashable, read: Read, name: str) -> Index:
        """The index of a source that the cache does not know."""
        begin = time.perf_counter()
        try:
            grammar, notes = read()
            content = (grammar.words, grammar.blob, grammar.rules, grammar.root, *map(repr, notes))
            found = self._cache.find_format(source_key, content)
            if found is not None:
                return found
            between = time.perf_counter()
            native = EngineIndex(
                self._native,
                grammar.words,
                grammar.blob,
                grammar.rules,
                grammar.names,
                grammar.root,
                self._limits,
            )
        except MaskwrightError as error:
            placed = _placed(error, source, name)
            if placed is error:
                raise
            raise placed from None
        end = time.perf_counter()
        index = Index(
            native,
            name,
            grammar,
            self._identity,
            notes,
            front_seconds=between - begin,
            native_seconds=end - between,
        )
        return self._cache.add(source_key, content, index)

    def _compile_schema(self, schema: Any, options: Options, text: str | None) -> Index:
        """Compile a schema; `text` says what it is, in the cache, if that can be said."""
        compile_schema, _ = _schema_front_end()
        refused: SchemaCompile | None = None

        def read() -> tuple[Grammar, tuple[Any, ...]]:
            # What else the front end made goes at once: after the engine's work that takes twice as long.
            done = refused or compile_schema(schema, options)
            return done.grammar, tuple(done.ignored)

        known = text if text is not None else f"unnamed {next(_UNNAMED)}"
        # The type: a dict and its JSON text need not mean the same, as a dict's floats were rounded.
        source_key: Hashable = (type(schema).__name__, options.key, known)
        if len(known) > MAX_KEPT_TEXT:
            source_key = blake2b(repr(source_key).encode()).digest()
        while True:
            try:
                return self._compile(("schema", known), read, None, source_key)
            except GrammarError as error:
                refused = refused or compile_schema(schema, options)
                refused.retry(error)

    def _read_grammar(self, text: str, syntax: Syntax, start: str | None) -> tuple[Grammar, Sequence[Any]]:
        special = self.vocabulary.special
        if syntax == "gbnf":
            from maskwright.grammar import gbnf_to_ir  # noqa: PLC0415 - not needed for a regex

            parsed = gbnf_to_ir(text, root=start or "root", special=special)
        else:
            from maskwright.grammar import lark_to_ir  # noqa: PLC0415 - an optional extra

            parsed = lark_to_ir(text, start=start or "start", special=special)
        return parsed.grammar, parsed.notes


async def _on_a_thread(work: Callable[..., Index], *arguments: Any, **options: Any) -> Index:
    import asyncio  # noqa: PLC0415 - it takes 35 ms, and is there where somebody awaits

    return await asyncio.to_thread(work, *arguments, **options)


@cache
def _schema_front_end() -> tuple[type[SchemaCompile], Callable[..., Options]]:
    """The front end for schemas, which a regex can do without. The statement takes 9 µs, again and again."""
    from maskwright.json_schema import SchemaCompile, options_of  # noqa: PLC0415

    return SchemaCompile, options_of


def _placed(error: MaskwrightError, source: tuple[Any, ...], name: str) -> MaskwrightError:
    """An error of the engine, which knows no text, with the place in the user's input."""
    if isinstance(error, VocabularyError) or (isinstance(error, LimitError) and error.where is None):
        error.where = name
        if isinstance(error, LimitError) and hasattr(Limits, error.limit):
            error.try_ = f"a smaller format, or Compiler(..., limits=Limits({error.limit}=...)) with more"
    elif isinstance(error, GrammarError) and source[0] == "regex":
        pattern = source[1]
        text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
        return PatternError(error.what, pattern=text, offset=0, why=error.why, code="pattern.empty")
    return error


def _shortened(source: tuple[Any, ...]) -> str:
    kind, text = source[0], source[1]
    return f"{kind} {text!r}" if len(text) <= 50 else f"{kind} {text[:50]!r}..."


def _is_int(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _check(name: str, value: object, fits: bool, what: str, *, try_: str | None = None) -> None:
    if not fits:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        what = f"{name} must be {what}, not {shown}"
        raise MaskwrightError(what, where=name, try_=try_, code=f"argument.{name}")


def _schema_text(schema: Any) -> str | None:
    """A text for the cache's key; None for one that has none, or is nested too deeply.

    Not as JSON, which writes `{1: ..}` as `{"1": ..}`, and two lone surrogates as one character.
    """
    if isinstance(schema, bytes):
        return schema.decode("latin-1")
    try:
        return repr(schema)
    except (ValueError, RecursionError):  # a number of more than 4,300 digits has no repr
        return None
