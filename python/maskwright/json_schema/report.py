"""What does a schema ask for, and what becomes of it? Every keyword with its place, without a vocabulary."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from maskwright.errors import LimitError, MaskwrightError, SchemaError, shown_place
from maskwright.json_schema import formats
from maskwright.json_schema.compile import Options, SchemaCompile
from maskwright.json_schema.keywords import TABLE, Part, nearest_name
from maskwright.json_schema.places import Documents, Place, subschemas
from maskwright.json_schema.reading import TYPES

__all__ = ["Finding", "Report", "check_schema", "refuse_unknown"]

MAX_POINTERS = 5_000_000
"""Characters of all places of a report: about a second. They grow with the square of the nesting."""

_WHY_STRICT = 'the standard passes over it, and unknown_keywords="error" asks for more'

_SPOKEN_OF = {
    Part.STRING: frozenset(("string",)),
    Part.NUMBER: frozenset(("integer", "number")),
    Part.ARRAY: frozenset(("array",)),
    Part.OBJECT: frozenset(("object",)),
}
"""The types that keywords speak of."""

_STATUS = {word.name: word.status for word in TABLE}

_ELSEWHERE = {
    "nullable": 'of OpenAPI 3.0; in JSON Schema it is "null" among the types',
    "discriminator": "of OpenAPI; it says nothing about which values there are",
    "optional": 'no keyword of any draft; a member is optional that "required" does not have',
}
"""Keywords of others that look as if they said something."""

_LETTERS = re.compile(r"(?<!\\)(?:\\\\)*\\([AZz])")
"""What are the ends of the text elsewhere."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One keyword at one place. `status` is "enforced", "refused", "annotation", "structure", "unknown", or
    "idle" for a keyword that speaks of another type than the schema's `type`: it has no effect, whatever it
    says."""

    pointer: str
    keyword: str
    status: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All keywords of a schema in document order. `error` is what would keep the schema from being compiled.

    >>> report = check_schema({"type": "string", "pattern": "^a", "title": "A", "colour": "red"})
    >>> report.is_enforced, [finding.status for finding in report.findings]
    (True, ['enforced', 'enforced', 'annotation', 'unknown'])
    """

    findings: tuple[Finding, ...]
    error: MaskwrightError | None = None

    @property
    def is_enforced(self) -> bool:
        """Whether the whole schema can be compiled."""
        return self.error is None

    def with_status(self, status: str) -> list[Finding]:
        """The findings with one status."""
        return [finding for finding in self.findings if finding.status == status]

    def __str__(self) -> str:
        width = max((len(finding.status) for finding in self.findings), default=0)
        lines = [
            f"{finding.status:<{width}}  {shown_place(finding.pointer)}"
            + (f"  {finding.note}" if finding.note else "")
            for finding in self.findings
        ]
        counts = {finding.status: 0 for finding in self.findings}
        for finding in self.findings:
            counts[finding.status] += 1
        lines.append(
            ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no keywords"
        )
        if self.error is not None:
            lines.append(str(self.error))
        return "\n".join(lines)


def check_schema(schema: Any, **options: Any) -> Report:
    """What becomes of each keyword of a schema. `options` are those of `Compiler.json_schema`.

    Raises `SchemaError` for what is no schema at all (text that is no JSON, say), `LimitError` where the
    places of the keywords are too much text to list.

    >>> print(check_schema({"type": "integer", "minimum": 1}))
    enforced  #/type
    enforced  #/minimum
    2 enforced
    """
    chosen = Options(**options)
    error: MaskwrightError | None = None
    refused: dict[str, str] = {}
    first = SchemaCompile(
        schema, replace(chosen, unsupported="ignore", unknown_keywords="annotate"), write=False
    )
    documents = first.documents
    try:
        first.write()
        first.engine_sizes()
        refused = {note.pointer: note.reason for note in first.ignored}
    except MaskwrightError as caught:
        error = caught
        if isinstance(caught, SchemaError) and (caught.keyword or caught.code == "schema.malformed.key"):
            refused = {caught.pointer: caught.why or caught.what}
        refused.update({note.pointer: note.reason for note in first.ignored})
    strict = chosen.unknown_keywords == "error"
    if error is None and (strict or (refused and chosen.unsupported == "error")):
        try:
            SchemaCompile(schema, chosen).engine_sizes()
        except MaskwrightError as caught:
            error = caught
    return Report(tuple(_findings(documents, refused, chosen)), error)


def _findings(documents: Documents, refused: dict[str, str], options: Options) -> Iterator[Finding]:
    written = 0
    for place in _places(documents):
        written += len(place.pointer) * len(place.schema)
        if written > MAX_POINTERS:
            what = "the places of the keywords are too much text to list"
            raise LimitError(what, limit="report_text", value=MAX_POINTERS, why="schemas are nested deeply")
        known = place.keywords
        hidden = place.draft.ref_hides and "$ref" in place.schema
        for keyword, value in place.schema.items():
            pointer = place.pointer_to(keyword)
            if pointer in refused:
                yield Finding(pointer, keyword, "refused", refused[pointer])
            elif keyword not in known:
                status = "refused" if options.unknown_keywords == "error" else "unknown"
                meant = _meant(keyword, known)
                note = f"is {meant} meant?" if meant else _why_unknown(keyword)
                yield Finding(pointer, keyword, status, note)
            elif hidden and keyword != "$ref":
                status = "structure" if known[keyword] == Part.NOTHING else "annotation"
                yield Finding(
                    pointer, keyword, status, "hidden by the $ref beside it" if status == "annotation" else ""
                )
            elif idle := _why_idle(place, keyword):
                yield Finding(pointer, keyword, "idle", idle)
            else:
                yield _finding(pointer, keyword, value, options)


def _finding(pointer: str, keyword: str, value: Any, options: Options) -> Finding:
    if keyword == "format":
        if options.formats == "annotate":
            return Finding(pointer, keyword, "annotation", 'formats="annotate"')
        if not (isinstance(value, str) and formats.known(value)):
            near = nearest_name(value, formats.FORMATS) if isinstance(value, str) else None
            note = f"the format {value!r} is not known" + (f'; is "{near}" meant?' if near else "")
            return Finding(pointer, keyword, "annotation", note)
    status = _STATUS[keyword]
    return Finding(pointer, keyword, "enforced" if status == "when" else status, _as_read(keyword, value))


def _as_read(keyword: str, value: Any) -> str:
    """How a pattern is read that means something else in other dialects."""
    letter = _LETTERS.search(value) if keyword == "pattern" and isinstance(value, str) else None
    if letter is None:
        return ""
    meant = "^" if letter[1] == "A" else "$"
    return f'\\{letter[1]} is the letter {letter[1]} in ECMA-262; is "{meant}" meant?'


def _why_idle(place: Place, keyword: str) -> str:
    """What a keyword speaks of, if the type of the schema is another; else nothing."""
    kind, spoken = place.schema.get("type"), _SPOKEN_OF.get(place.keywords[keyword])
    kinds = [kind] if isinstance(kind, str) else kind
    if spoken is None or not isinstance(kinds, list) or not kinds:
        return ""
    if not all(isinstance(kind, str) and kind in TYPES for kind in kinds) or not spoken.isdisjoint(kinds):
        return ""
    return f"it speaks of {sorted(spoken)[-1]}s, and the type is {' or '.join(kinds)}"


def _why_unknown(keyword: str) -> str:
    if not isinstance(keyword, str):  # of a dict: JSON has none
        return "the keys of a schema are strings"
    return "not in this draft" if keyword in _STATUS else _ELSEWHERE.get(keyword, "")


def _meant(keyword: str, known: Collection[str]) -> str | None:
    """The keyword that one may be a misspelling of, in quotes."""
    if keyword in _STATUS or keyword in _ELSEWHERE or not isinstance(keyword, str):
        return None
    near = nearest_name(keyword, known)
    return f'"{near}"' if near else None


def _places(documents: Documents) -> Iterator[Place]:
    """All schemas of the document, in document order."""
    waiting = [documents.root_place()]
    while waiting:
        place = waiting.pop()
        if not isinstance(place.schema, dict):
            continue
        yield place
        inner = [documents.child(place, schema, *steps) for schema, steps in subschemas(place.schema)]
        waiting.extend(reversed(inner))


def refuse_unknown(documents: Documents) -> None:
    """Raise `SchemaError` for the first keyword that its draft does not know."""
    for place in _places(documents):
        known = place.keywords
        for keyword in place.schema:
            if keyword not in known:
                raise SchemaError(
                    f'unknown keyword "{keyword}"',
                    pointer=place.pointer_to(keyword),
                    keyword=keyword,
                    why="; ".join(filter(None, (_why_unknown(keyword), _WHY_STRICT))),
                    try_=_meant(keyword, known),
                    code="schema.unknown-keyword",
                )
