"""Maskwright: which tokens keep the text inside a format?

A format (a regular expression, a JSON Schema) and a tokenizer's vocabulary go in. Before each sampling step
a mask comes out: for every token id, whether the text so far plus that token can still become a text of the
format.

>>> from maskwright import Constraint, TokenIndex, Vocabulary, regex_to_dfa
>>> vocabulary = Vocabulary.from_tokens([b"ca", b"t", b"r", b"s", None], eos_id=4)
>>> index = TokenIndex(regex_to_dfa("(cat|car)s?"), vocabulary.tokens, vocabulary.eos_ids)
>>> constraint = Constraint(index)
>>> constraint.advance(0)
>>> constraint.mask().tolist()
[False, True, True, False, False]

Importing the package costs little: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from maskwright.errors import (
    GrammarError,
    InternalError,
    LimitError,
    MaskwrightError,
    PatternError,
    SchemaError,
    TokenNotAllowed,
    VocabularyError,
)

if TYPE_CHECKING:
    from maskwright._native import __version__ as __version__
    from maskwright.bitmask import allocate_bitmask, apply_bitmask
    from maskwright.compiler import Compiler
    from maskwright.index import Index
    from maskwright.json_schema import Report, Whitespace, check_schema
    from maskwright.json_schema.explain import Explanation, explain_schema
    from maskwright.limits import Limits
    from maskwright.protocol import ConstraintProtocol
    from maskwright.reference import (
        DEAD,
        DFA,
        Constraint,
        TokenIndex,
        json_schema_to_regex,
        regex_to_dfa,
    )
    from maskwright.sampling import SamplingParams, apply_mask, constrained_sample, sample
    from maskwright.tokenizers import vocab_bytes
    from maskwright.vocabulary import Vocabulary

__all__ = [
    "DEAD",
    "DFA",
    "Compiler",
    "Constraint",
    "ConstraintProtocol",
    "Explanation",
    "GrammarError",
    "Index",
    "InternalError",
    "LimitError",
    "Limits",
    "MaskwrightError",
    "PatternError",
    "Report",
    "SamplingParams",
    "SchemaError",
    "TokenIndex",
    "TokenNotAllowed",
    "Vocabulary",
    "VocabularyError",
    "Whitespace",
    "allocate_bitmask",
    "apply_bitmask",
    "apply_mask",
    "check_schema",
    "constrained_sample",
    "explain_schema",
    "json_schema_to_regex",
    "regex_to_dfa",
    "sample",
    "vocab_bytes",
]

_HOMES = {
    "DEAD": "maskwright.reference",
    "DFA": "maskwright.reference",
    "Compiler": "maskwright.compiler",
    "Constraint": "maskwright.reference",
    "ConstraintProtocol": "maskwright.protocol",
    "Explanation": "maskwright.json_schema.explain",
    "Index": "maskwright.index",
    "Limits": "maskwright.limits",
    "Report": "maskwright.json_schema",
    "SamplingParams": "maskwright.sampling",
    "TokenIndex": "maskwright.reference",
    "Vocabulary": "maskwright.vocabulary",
    "Whitespace": "maskwright.json_schema",
    "__version__": "maskwright._native",
    "allocate_bitmask": "maskwright.bitmask",
    "apply_bitmask": "maskwright.bitmask",
    "apply_mask": "maskwright.sampling",
    "check_schema": "maskwright.json_schema",
    "constrained_sample": "maskwright.sampling",
    "explain_schema": "maskwright.json_schema.explain",
    "json_schema_to_regex": "maskwright.reference",
    "regex_to_dfa": "maskwright.reference",
    "sample": "maskwright.sampling",
    "vocab_bytes": "maskwright.tokenizers",
}
"""Where each name that is loaded on first use lives: these modules import NumPy."""


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names; what this file and its modules need for themselves is not among them."""
    return sorted({*__all__, *_HOMES, *(name for name in globals() if name.startswith("__"))})
