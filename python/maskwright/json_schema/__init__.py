"""How does a JSON Schema become a format? In the order of reading:

keywords.py     the one table: what is done with each keyword, in each draft
places.py       where a schema is, and where its references lead
forms.py        boolean expressions over schemas, unread
clauses.py      what a form says about each type
reading.py      a schema's keywords to clauses: constant_clauses.py, container_clauses.py; in_place.py has the
                schemas for the same value, evaluated.py the unevaluated members and items
algebra.py      and, or, not of clauses, and which are empty: absorb.py, complement.py, key_languages.py
apart.py        which branches of a union exclude each other
strings.py, numbers.py, formats.py    sets of scalars, and how they are spelled (spelling.py)
guess.py, bounds.py    what can be told of them, or written, at once
write.py        forms to the IR; objects.py, arrays.py, order.py, whitespace.py
straight.py     what needs no clauses, which is nearly all, from keywords to the IR; constants.py
prelude.py      what every grammar begins with
compile.py      options, errors, and what is knowingly ignored
report.py       what a schema asks for and what becomes of it
explain.py      what it costs and forces
"""

from maskwright.json_schema.compile import Ignored, Options, SchemaCompile, options_of
from maskwright.json_schema.report import Finding, Report, check_schema
from maskwright.json_schema.whitespace import Whitespace

__all__ = [
    "Finding",
    "Ignored",
    "Options",
    "Report",
    "SchemaCompile",
    "Whitespace",
    "check_schema",
    "options_of",
]
