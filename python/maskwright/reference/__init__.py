"""The readable semantics: from a pattern to masks in plain Python and NumPy, without the native engine.

This is the definition that the engine is held to, and the place to read how it works. In reading order:

    pattern.py (with source, escapes, refusals, byte_sets)   a pattern becomes a tree (tree.py)
    nfa.py, subset.py, minimise.py, dfa.py                   the tree becomes a canonical DFA
    trie.py, token_index.py                                  the DFA and a vocabulary become masks
    constraint.py, ../sampling.py                            masks steer a model
    json_schema.py, json_values.py                           a JSON Schema becomes a pattern
"""

from maskwright.reference.constraint import Constraint
from maskwright.reference.dfa import DEAD, DFA, regex_to_dfa
from maskwright.reference.json_schema import json_schema_to_regex
from maskwright.reference.limits import ReferenceLimits
from maskwright.reference.token_index import TokenIndex
from maskwright.sampling import SamplingParams, apply_mask, constrained_sample, sample
from maskwright.tokenizers import vocab_bytes

__all__ = [
    "DEAD",
    "DFA",
    "Constraint",
    "ReferenceLimits",
    "SamplingParams",
    "TokenIndex",
    "apply_mask",
    "constrained_sample",
    "json_schema_to_regex",
    "regex_to_dfa",
    "sample",
    "vocab_bytes",
]
