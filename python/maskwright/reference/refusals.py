"""Why is a construct that Python's `re` knows left out here, and what can be written instead?"""

from __future__ import annotations

from maskwright.errors import PatternError
from maskwright.reference.source import Source

_WHY = {
    "anchor": "the whole text is matched, so an anchor is either redundant or unsatisfiable",
    "lookahead": "it looks at text that a token mask has not seen yet",
    "lookbehind": "it looks back at text that the automaton does not keep",
    "backreference": "a finite automaton cannot compare with text that was read before",
    "conditional": "a finite automaton does not remember which groups took part",
    "atomic group": "it changes which match a search finds, and a mask does not search",
    "possessive quantifier": "it changes which match a search finds, and a mask does not search",
    "lazy quantifier": "it changes which match a search finds; all matches are allowed here",
    "flag": "flags change what the rest of the pattern means",
}
_TRY = {
    "anchor": "leave it out",
    "lazy quantifier": "the greedy form: the language is the same",
    "flag": "write the classes out, for example [Aa] for a case-blind a",
}


def refusal(source: Source, kind: str, offset: int) -> PatternError:
    """The error for a construct that Python knows and this subset leaves out."""
    return source.error(
        f"{kind} not supported",
        offset,
        why=_WHY[kind],
        try_=_TRY.get(kind),
        code=f"pattern.unsupported.{kind.replace(' ', '-')}",
    )
