"""Write docs/json-schema.md from the table of keywords that the code uses.

    python scripts/make_json_schema_docs.py [--check]

With --check nothing is written; the exit code is 1 if the file is not what would be written.
"""

# ruff: noqa: E501 - paragraphs and rows of a table are one line each in the page

from __future__ import annotations

import sys
from pathlib import Path

from maskwright.json_schema.formats import FORMATS
from maskwright.json_schema.keywords import TABLE, Draft, Keyword

PAGE = Path(__file__).resolve().parents[1] / "docs" / "json-schema.md"

_HEAD = """# JSON Schema

<!-- Written by scripts/make_json_schema_docs.py from python/maskwright/json_schema/keywords.py; do not edit. -->

`Compiler.json_schema` compiles a schema of draft 4, 6, 7, 2019-09 or 2020-12, by its `$schema`; one without is read as
2020-12 with the older keywords where they do not clash. Every keyword is enforced exactly or the schema is refused with
its place and a reason; `unsupported="ignore"` drops what cannot be enforced, and `index.ignored` lists it.
`maskwright check SCHEMA` and `maskwright.check_schema` say what becomes of each keyword of a schema; `maskwright explain
SCHEMA` and `maskwright.explain_schema` say [where its cost is](command-line.md#maskwright-explain), and what it forces.

```python
>>> import maskwright as mw
>>> compiler = mw.Compiler(mw.Vocabulary.default())
>>> index = compiler.json_schema({"type": "array", "items": {"enum": ["a", 1]}}, whitespace="compact")
>>> index.constraint().forced_text()
b'['
>>> compiler.json_schema({"type": "object", "properties": {"a": {"type": "strng"}}})
Traceback (most recent call last):
    ...
maskwright.errors.SchemaError: "type" is malformed
  ...
>>> report = mw.check_schema({"type": "string", "format": "date", "pattern": "^x"})
>>> report.is_enforced, report.error.code, [finding.status for finding in report.findings]
(False, 'schema.no-value', ['enforced', 'enforced', 'enforced'])
>>> explanation = mw.explain_schema({"type": "object", "properties": {"to": {"format": "email"}}, "required": ["to"]})
>>> [cost.place for cost in explanation.inside], explanation.forced
(['#/properties/to'], ('#: members in this order: "to", then others; always there: "to"',))

```

The keywords of one schema are a conjunction, in any combination: they are brought to clauses of one type each, closed under
and, or and not ([how](../python/maskwright/json_schema/algebra.py)). The work for that has a budget
(`limit.schema_work`): whether a schema has a value is a question that contains satisfiability.

## Keywords

| keyword | drafts | what is done |
|---|---|---|
"""

_TAIL = """
An unknown keyword is an annotation, as the standard says: `check_schema` lists it, and names the keyword that it may be a
misspelling of; `unknown_keywords="error"` refuses it.

## Patterns

A `pattern` is read as [ECMA-262](regex.md) and searched for, as the standard says: `"pattern": "b"` allows `"abc"`, and
`^` and `$` tie it to the ends of the text. What only Python has means something else there: `\\A` and `\\Z` are the
letters A and Z, `(?P<name>..)` is an error.

## Options

| option | values, the default first | what it does |
|---|---|---|
| `style` | `"generate"`, `"accept"` | [two styles](#two-styles) |
| `whitespace`, `indent` | `"flexible"`, and others | [white space](#white-space); give one of the two |
| `property_order` | `"schema"`, `"any"` | the order of members in style `generate` |
| `formats` | `"enforce"`, `"annotate"` | whether `format` says anything |
| `draft` | None, `"4"`, `"6"`, `"7"`, `"2019-09"`, `"2020-12"` | None: by `$schema`; its address may have `http` or `https` |
| `registry` | None, `{uri: schema}`, a `referencing.Registry` | documents that a `$ref` may lead to |
| `unsupported` | `"error"`, `"ignore"` | `"ignore"` drops keywords that cannot be enforced, and `index.ignored` lists them |
| `unknown_keywords` | `"annotate"`, `"error"` | `"error"` refuses keywords that the draft does not know |

## What is refused

| where | why |
|---|---|
| `uniqueItems` on items of any type, or on objects whose members may come in any order or have any name | one value has many texts |
| `uniqueItems` with `minItems` over 1,024, on items that are only so many | whether there are enough of them is not counted further |
| `uniqueItems` in style `"accept"` on many numbers between bounds, or in a long `enum` | each has endless spellings; some 100 are told apart |
| `not` over `uniqueItems` | arrays with two items alike have no regular form |
| a combination (`not`, `oneOf`) that asks for more than four things of members whose names are not known | each set of them is a kind of member |
| the same where the names are more than 64 and still few | whether one of them is left is a matching problem |
| `$ref` to what is neither in the schema, the registry nor a standard metaschema | nothing is fetched |
| a `pattern` with a back-reference, or with lookaround that is not regular | it is no regular language |
| a schema that no value satisfies | the error names the smallest part that has none, and what excludes what |
| schemas whose combinations take too much work, patterns whose automata take too many states | `LimitError` names the limit |

Under `uniqueItems` a text is never led to where no further item can be, up to 1,024 different items, with one exception: in style
`"accept"`, a number in an unusual spelling (`5e-`, `0e`) may be begun that can only become one which was there before.

## Two styles

`style="generate"`, the default, is what a model should write: members in schema order (those declared by first appearance
in a walk through the schemas that apply to the same value, then those only required, then others), no key twice, keys and
shaped strings in one canonical spelling, integers without fraction and exponent, bounded numbers in plain decimal, constants
as the schema spells them or in their shortest form, little white space. `property_order="any"` allows any order.

`style="accept"` takes every JSON text whose value validates, with any order, spelling and white space, and no key twice.
Its numbers have bounds ([how](../python/maskwright/json_schema/number_text.py)), unless every number will do:

| numbers | how they may be spelled |
|---|---|
| integers, and those with bounds or multiples | with an exponent of at most 5 in size after any digits, or any exponent after one digit that is not 0 before the point, as `1.5e+300` |
| multiples of a number, with such an exponent | without superfluous zeros, and with about 17 digits |
| multiples of a number other than 1, 0.1, 0.01 and so on, and whatever is no multiple of one | with at most 40 digits before the point and 40 after it; more before it where a bound has more |

In `style="generate"` the 40 digits before the point hold for multiples of a number with more than 100 remainders, as 9973.

## White space

| `whitespace=` | between JSON's tokens |
|---|---|
| `"flexible"`, the default | at most two blanks, or one line break and at most 64 blanks or tabs |
| `"compact"` | none |
| `"spaced"` | as `json.dumps` writes: `", "` and `": "` |
| `Whitespace(...)` | other bounds, other separators, or `indent`, as `json.dumps(indent=..)` writes |

None stands around the root.
"""


def page() -> str:
    """The whole page."""
    rows = "".join(f"| `{word.name}` | {_drafts(word)} | {_done(word)} |\n" for word in TABLE)
    formats = ", ".join(f"`{name}`" for name in sorted(FORMATS))
    listed = f"\n## Formats\n\nEnforced: {formats}. In all drafts, also in those that do not list them yet. [What each of them is, and why so](formats.md). Another name is an annotation.\n"
    return _HEAD + rows + listed + _TAIL


def _drafts(word: Keyword) -> str:
    first, last = _name(word.since), _name(word.until)
    if word.until is Draft.LATEST:
        return "all" if word.since is Draft.D4 else f"since {first}"
    return f"only {first}" if first == last else f"{first} to {last}"


def _name(draft: Draft) -> str:
    return {Draft.D2019: "2019-09", Draft.D2020: "2020-12", Draft.LATEST: "2020-12"}.get(
        draft, str(int(draft))
    )


def _done(word: Keyword) -> str:
    text = {"when": f"enforced when {word.when}", "structure": "names or groups schemas"}.get(
        word.status, word.status
    )
    return f"{text}; {word.note}" if word.note else text


def main(arguments: list[str]) -> int:
    """Write or check."""
    if "--check" in arguments:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
