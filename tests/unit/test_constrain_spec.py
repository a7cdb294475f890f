"""Does the reference keep what constrained decoding promises, from a pattern to a finished document?

One test for each promise of the interface, under the name that `scripts/mutants.py` and the documents use.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pytest
from maskwright.errors import MaskwrightError, PatternError, SchemaError, TokenNotAllowed
from maskwright.reference import (
    DEAD,
    DFA,
    Constraint,
    SamplingParams,
    TokenIndex,
    apply_mask,
    constrained_sample,
    json_schema_to_regex,
    regex_to_dfa,
    vocab_bytes,
)
from sample_texts import near, random_text

DATA = Path(__file__).parent.parent / "data"
PATTERNS = json.loads((DATA / "reference" / "patterns.json").read_text())
SCHEMAS = json.loads((DATA / "reference" / "schemas.json").read_text())
GOLDEN = json.loads((DATA / "masks_golden.json").read_text())

HAND_PATTERN = "(cat|car|dog)s?"
HAND_EDGES = {
    (0, "c"): 1,
    (0, "d"): 2,
    (1, "a"): 3,
    (2, "o"): 4,
    (3, "r"): 5,
    (3, "t"): 5,
    (4, "g"): 5,
    (5, "s"): 6,
}
HAND_MASKS = {0: [0, 4, 8, 9, 10], 3: [2, 3, 11], 5: [7, 13], 6: [13]}
HAND_EOS = 13

TOOL = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["C", "F"]},
        "at": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2},
        "exact": {"type": "boolean"},
    },
    "required": ["city", "days", "at"],
}
LIKELY = [*b'"}],:et', *range(256, 260)]  # strings end some time, and numbers have exponents

UTF8_EDGES = b"a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xf4\xf5\xff"


def tokens_of(vocabulary: dict[str, Any]) -> list[bytes | None]:
    return [None if token is None else bytes.fromhex(token) for token in vocabulary["tokens"]]


HAND_TOKENS = tokens_of(GOLDEN["vocabularies"]["hand"])
JSON_TOKENS = tokens_of(GOLDEN["vocabularies"]["json"])
JSON_EOS = GOLDEN["vocabularies"]["json"]["eos"][0]


def live_states(dfa: DFA) -> set[int]:
    """The states with a way to an accepting one, found by repeating until nothing is added."""
    live = {state for state in range(dfa.n_states) if dfa.accept[state]}
    while True:
        more = {s for s in range(dfa.n_states) if s not in live and live & set(dfa.trans[s].tolist())}
        if not more:
            return live
        live |= more


def token_reachable(index: TokenIndex) -> set[int]:
    """The states that allowed tokens lead to from the start."""
    seen, queue = {0}, deque([0])
    while queue:
        state = queue.popleft()
        for token_id in np.flatnonzero(index.mask(state)):
            following = index.next_state(state, int(token_id))
            assert following != DEAD
            if following not in seen:
                seen.add(following)
                queue.append(following)
    return seen


def test_hand_example() -> None:
    dfa = regex_to_dfa(HAND_PATTERN)
    assert dfa.n_states == 7
    assert dfa.accept.dtype == np.bool_
    assert dfa.trans.dtype == np.int32
    assert dfa.trans.shape == (7, 256)
    assert np.flatnonzero(dfa.accept).tolist() == [5, 6]
    edges = {(int(s), chr(b)): int(dfa.trans[s, b]) for s, b in np.argwhere(dfa.trans != DEAD)}
    assert edges == HAND_EDGES
    assert [dfa.step(0, text) for text in (b"", b"ca", b"cats", b"x", b"catsx")] == [0, 3, 6, DEAD, DEAD]
    assert dfa.step(DEAD, b"c") == DEAD
    assert [dfa.matches(text) for text in (b"cat", b"dogs", b"ca", b"", b"catss")] == [True, True] + [
        False
    ] * 3


def test_hand_example_masks() -> None:
    index = TokenIndex(regex_to_dfa(HAND_PATTERN), HAND_TOKENS, eos_id=HAND_EOS)
    masks = {state: np.flatnonzero(index.mask(state)).tolist() for state in HAND_MASKS}
    assert masks == HAND_MASKS
    assert index.mask(0).dtype == np.bool_
    assert index.mask(0).shape == (len(HAND_TOKENS),)
    assert not index.mask(DEAD).any()
    steps = {(0, 9): 5, (0, 0): 1, (3, 11): 6, (5, HAND_EOS): 5, (6, HAND_EOS): 6}
    dead = [(0, HAND_EOS), (0, 1), (0, 12), (0, 14), (6, 7), (DEAD, 0), (0, -1), (0, 99), (3, 8)]
    assert {place: index.next_state(*place) for place in steps} == steps
    assert [index.next_state(*place) for place in dead] == [DEAD] * len(dead)


@pytest.mark.parametrize("pattern", PATTERNS["like_python"])
def test_matches_python_re(pattern: str) -> None:
    dfa, oracle, rng = regex_to_dfa(pattern), re.compile(pattern.encode()), Random(1)
    for _ in range(150):
        for text in near(random_text(dfa, rng), rng):
            assert dfa.matches(text) == bool(oracle.fullmatch(text)), text
    # Single bytes and pairs too: a class that lacks members makes no text that shows it.
    for text in (bytes([b]) for b in range(256)):
        for tried in (text, text + b"x", b"a" + text, b"a" + text + b"b"):
            assert dfa.matches(tried) == bool(oracle.fullmatch(tried)), tried


@pytest.mark.parametrize(
    "pattern", [*PATTERNS["like_python"], r"a[^\x00-\xff]|b", json_schema_to_regex(TOOL)]
)
def test_every_state_is_live(pattern: str) -> None:
    dfa = regex_to_dfa(pattern)
    assert live_states(dfa) == set(range(dfa.n_states))


@pytest.mark.parametrize(("one", "other"), PATTERNS["equivalent"])
def test_canonical_form(one: str, other: str) -> None:
    first, second = regex_to_dfa(one), regex_to_dfa(other)
    assert np.array_equal(first.trans, second.trans)
    assert np.array_equal(first.accept, second.accept)


@pytest.mark.parametrize("case", PATTERNS["refused"], ids=lambda case: ascii(case["pattern"]))
def test_unsupported_syntax_raises(case: dict[str, Any]) -> None:
    with pytest.raises(PatternError) as caught:
        regex_to_dfa(case["pattern"])
    assert isinstance(caught.value, ValueError)
    assert (caught.value.offset, caught.value.code) == (case["offset"], case["code"])


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["pattern"][:40])
def test_masks_match_brute_force(case: dict[str, Any]) -> None:
    vocabulary = GOLDEN["vocabularies"][case["vocabulary"]]
    tokens, eos_ids, dfa = tokens_of(vocabulary), vocabulary["eos"], regex_to_dfa(case["pattern"])
    index = TokenIndex(dfa, tokens, eos_id=eos_ids)
    for state in range(dfa.n_states):
        ends = [dfa.step(state, token) if token else DEAD for token in tokens]
        for token_id in eos_ids:
            ends[token_id] = state if dfa.accept[state] else DEAD
        assert index.mask(state).tolist() == [end != DEAD for end in ends]
        assert [index.next_state(state, token_id) for token_id in range(len(tokens))] == ends


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["pattern"][:40])
def test_masks_match_the_golden_file(case: dict[str, Any]) -> None:
    vocabulary = GOLDEN["vocabularies"][case["vocabulary"]]
    patterns = [case["pattern"], *([json_schema_to_regex(case["schema"])] if "schema" in case else [])]
    for pattern in patterns:
        index = TokenIndex(regex_to_dfa(pattern), tokens_of(vocabulary), eos_id=vocabulary["eos"])
        for path in case["paths"]:
            constraint = Constraint(index)
            for i, (mask, complete) in enumerate(zip(path["masks"], path["complete"], strict=True)):
                assert np.packbits(constraint.mask(), bitorder="little").tobytes().hex() == mask, i
                assert constraint.is_complete() == complete, i
                if i < len(path["tokens"]):
                    constraint.advance(path["tokens"][i])


@pytest.mark.parametrize("pattern", [*PATTERNS["like_python"], json_schema_to_regex(TOOL)])
def test_reachable_states_never_have_an_empty_mask(pattern: str) -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"a1", b'"}', b"\xc3\xa9", None]
    index = TokenIndex(regex_to_dfa(pattern), tokens, eos_id=len(tokens) - 1)
    assert all(index.mask(state).any() for state in token_reachable(index))


def test_constraint_lifecycle() -> None:
    constraint = Constraint(TokenIndex(regex_to_dfa(HAND_PATTERN), HAND_TOKENS, eos_id=HAND_EOS))
    assert (constraint.state, constraint.done, constraint.is_complete()) == (0, False, False)
    for refused in (1, 12, HAND_EOS, 14, -1, 99):
        with pytest.raises(TokenNotAllowed):
            constraint.advance(refused)
        assert (constraint.state, constraint.tokens) == (0, ())
    constraint.advance(9)
    assert (constraint.state, constraint.done, constraint.is_complete()) == (5, False, True)
    constraint.advance(7)
    constraint.advance(HAND_EOS)
    assert (constraint.state, constraint.done, constraint.is_complete()) == (6, True, True)
    assert not constraint.mask().any()
    for refused in range(len(HAND_TOKENS)):
        with pytest.raises(TokenNotAllowed):
            constraint.advance(refused)
    assert constraint.tokens == (9, 7, HAND_EOS)


def test_apply_mask() -> None:
    logits = np.array([1.5, 2.0, -3.0], np.float32)
    masked = apply_mask(logits, np.array([True, False, True]))
    assert masked.dtype == np.float64
    assert masked.tolist() == [1.5, -math.inf, -3.0]
    assert logits.tolist() == [1.5, 2.0, -3.0]
    whole = np.array([1.0, 2.0])
    assert apply_mask(whole, np.array([True, True])) is not whole
    for mask in ([False] * 3, [True] * 2, [True] * 4, [[True] * 3], [1, 0, 1]):
        with pytest.raises(MaskwrightError):
            apply_mask(logits, np.array(mask))


def test_greedy_takes_the_best_allowed_token() -> None:
    index = TokenIndex(regex_to_dfa(HAND_PATTERN), HAND_TOKENS, eos_id=HAND_EOS)
    constraint = Constraint(index)
    logits = np.zeros(len(HAND_TOKENS))
    logits[[1, 12, 14]] = 50.0  # the best of all are not allowed
    logits[[4, 9]] = 2.0  # the best allowed, twice
    params, rng = SamplingParams(temperature=0.0), np.random.default_rng(0)
    token, logprob = constrained_sample(logits, constraint, params, [], rng)
    assert token == 4
    assert logprob == pytest.approx(2.0 - math.log(3 * 1.0 + 2 * math.exp(2.0)))
    assert constraint.tokens == (4,)
    for _ in range(2):  # "o" and "g" are the only ways on
        token, logprob = constrained_sample(logits, constraint, params, [], rng)
        assert logprob == pytest.approx(0.0)
    assert constraint.is_complete()
    constraint.advance(HAND_EOS)
    with pytest.raises(MaskwrightError):
        constrained_sample(logits, constraint, params, [], rng)


def test_constrained_generation_parses() -> None:
    index = TokenIndex(regex_to_dfa(json_schema_to_regex(TOOL)), JSON_TOKENS, eos_id=JSON_EOS)
    finished = 0
    for seed in range(40):
        rng, constraint = np.random.default_rng(seed), Constraint(index)
        params = SamplingParams(temperature=0.5 + seed % 3 / 2, seed=seed)
        while not constraint.done and len(constraint.tokens) < 120:
            logits = rng.normal(size=len(JSON_TOKENS)) * 2
            logits[JSON_EOS] += 4
            logits[LIKELY] += 6
            constrained_sample(logits, constraint, params, constraint.tokens, rng)
        text = b"".join(JSON_TOKENS[token] or b"" for token in constraint.tokens)
        if constraint.done:
            finished += 1
            document = json.loads(text.decode("utf-8"))
            jsonschema.validate(document, {**TOOL, "additionalProperties": False})
    assert finished >= 30


@pytest.mark.parametrize("case", SCHEMAS["documents"], ids=lambda case: json.dumps(case["schema"])[:60])
def test_json_schema_documents(case: dict[str, Any]) -> None:
    dfa = regex_to_dfa(json_schema_to_regex(case["schema"]))
    for text in case["valid"]:
        assert dfa.matches(text.encode()), text
        json.loads(text)
    for data in [text.encode() for text in case["invalid"]] + [bytes.fromhex(h) for h in case["invalid_hex"]]:
        assert not dfa.matches(data), data


def test_json_schema_strings_are_well_formed_utf8() -> None:
    dfa, rng = regex_to_dfa(json_schema_to_regex({"type": "string"})), Random(3)
    for _ in range(4000):
        body = bytes(rng.choices(UTF8_EDGES, k=rng.randrange(1, 6)))
        try:
            well_formed = "\x7f" not in body.decode("utf-8")
        except UnicodeDecodeError:
            well_formed = False
        assert dfa.matches(b'"' + body + b'"') == well_formed, body


@pytest.mark.parametrize("case", SCHEMAS["refused"], ids=lambda case: json.dumps(case["schema"])[:60])
def test_json_schema_rejects_keywords_outside_the_subset(case: dict[str, Any]) -> None:
    with pytest.raises(SchemaError) as caught:
        json_schema_to_regex(case["schema"])
    assert isinstance(caught.value, ValueError)
    assert (caught.value.pointer, caught.value.code) == (case["pointer"], case["code"])


def test_vocab_bytes() -> None:
    strings = ["a", "Ġthe", "Ċ", "Ã©", "é!", "##ing", "日本", "", "<eos>", "Ā"]
    expected = [b"a", b" the", b"\n", "é".encode(), b"\xe9!", b"##ing", "日本".encode(), b"", None, b"\x00"]
    plain = SimpleNamespace(vocab=strings, special_tokens={"<eos>": 8})
    by_name = SimpleNamespace(vocab={token: i for i, token in enumerate(strings)}, special_tokens=["<eos>"])
    assert vocab_bytes(plain) == expected
    assert vocab_bytes(by_name) == expected
