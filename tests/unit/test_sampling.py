"""Does the sampler draw from the distribution that its parameters describe?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from maskwright.errors import MaskwrightError
from maskwright.sampling import SamplingParams, sample
from numpy.typing import NDArray

LOGITS = np.array([1.0, 3.0, -math.inf, 2.0, 3.0, 0.0])
DRAWS = 3_000
NEAR = 0.046  # five standard deviations of a fraction near 1/2 of so many
Row = NDArray[np.float64]


def softmax(logits: Row) -> Row:
    weights = np.exp(logits)
    return weights / weights.sum()


def drawn(params: SamplingParams, history: Sequence[int] = (), prompt: Sequence[int] = ()) -> Row:
    """How often each token comes, as a fraction."""
    rng = np.random.default_rng(11)
    tokens = [sample(LOGITS, params, history, rng, prompt)[0] for _ in range(DRAWS)]
    return np.bincount(tokens, minlength=len(LOGITS)) / DRAWS


def expected(logits: Row, kept: list[int]) -> Row:
    return softmax(np.where(np.isin(np.arange(len(logits)), kept), logits, -math.inf))


ALL = [0, 1, 3, 4, 5]


@pytest.mark.parametrize(
    ("params", "distribution"),
    [
        (SamplingParams(), expected(LOGITS, ALL)),
        (SamplingParams(temperature=2.0), expected(LOGITS / 2, ALL)),
        (SamplingParams(temperature=0.5), expected(LOGITS * 2, ALL)),
        (SamplingParams(temperature=1e-9), expected(LOGITS, [1, 4])),
        (SamplingParams(top_k=1), expected(LOGITS, [1])),
        (SamplingParams(top_k=3), expected(LOGITS, [1, 3, 4])),
        (SamplingParams(top_k=99), expected(LOGITS, ALL)),
        (SamplingParams(top_p=0.1), expected(LOGITS, [1])),
        (SamplingParams(top_p=0.6), expected(LOGITS, [1, 4])),
        (SamplingParams(top_p=0.9), expected(LOGITS, [1, 3, 4])),
        (SamplingParams(min_p=0.3), expected(LOGITS, [1, 3, 4])),
        (SamplingParams(min_p=1.0), expected(LOGITS, [1, 4])),
        (SamplingParams(top_k=3, top_p=0.5), expected(LOGITS, [1, 4])),
    ],
)
def test_distribution(params: SamplingParams, distribution: Row) -> None:
    fractions = drawn(params)
    assert np.abs(fractions - distribution).max() < NEAR
    assert (fractions > 0)[distribution > 0.01].all()
    assert not fractions[distribution == 0].any()


@pytest.mark.parametrize(
    ("params", "changed"),
    [
        (SamplingParams(repetition_penalty=2.0), {1: 1.5, 3: 1.0, 5: 0.0}),
        (SamplingParams(presence_penalty=1.5), {1: 1.5, 5: -1.5}),
        (SamplingParams(frequency_penalty=0.5), {1: 2.0, 5: -0.5}),
        (SamplingParams(presence_penalty=-1.0, frequency_penalty=0.5), {1: 3.0, 5: 0.5}),
    ],
)
def test_penalties(params: SamplingParams, changed: dict[int, float]) -> None:
    """History 1, 1, 5 and prompt 3: presence and frequency look at the history only."""
    logits = LOGITS.copy()
    logits[list(changed)] = list(changed.values())
    assert np.abs(drawn(params, (1, 1, 5), (3,)) - softmax(logits)).max() < NEAR


def test_repetition_penalty_lowers_negative_logits() -> None:
    logits = [-1.0, -1.5]
    params = SamplingParams(temperature=0, repetition_penalty=2.0)
    assert sample(logits, params, [0], params.rng())[0] == 1


def test_greedy() -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    token, logprob = sample(LOGITS, SamplingParams(temperature=0.0), [], rng)
    assert token == 1  # the lowest of two
    assert logprob == pytest.approx(math.log(softmax(LOGITS)[1]))
    assert rng.bit_generator.state == before


def test_logprob_is_that_of_the_given_logits() -> None:
    params = SamplingParams(temperature=0.3, top_k=2, presence_penalty=1.0, seed=4)
    rng = params.rng()
    for _ in range(20):
        token, logprob = sample(LOGITS, params, [1], rng)
        assert logprob == pytest.approx(math.log(softmax(LOGITS)[token]))


def test_a_seed_repeats() -> None:
    params = SamplingParams(seed=123)
    runs = [[sample(LOGITS, params, [], rng)[0] for _ in range(50)] for rng in (params.rng(), params.rng())]
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 1


def test_extreme_logits() -> None:
    rng = np.random.default_rng(1)
    assert sample([1e308, -1e308], SamplingParams(), [], rng) == (0, 0.0)
    assert sample([-1e308, -1e308, -math.inf], SamplingParams(temperature=1e-300), [], rng)[0] < 2
    assert sample([-math.inf, -math.inf, 0.0], SamplingParams(top_p=1e-9), [], rng) == (2, 0.0)
    assert sample([-math.inf, 5], SamplingParams(repetition_penalty=9, presence_penalty=2), [0], rng)[0] == 1


@pytest.mark.parametrize("logits", [[], [-math.inf] * 3, [0.0, math.nan], [0.0, math.inf], [[0.0, 1.0]]])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_cannot_be_drawn_from(logits: list[float], temperature: float) -> None:
    with pytest.raises(MaskwrightError):
        sample(logits, SamplingParams(temperature=temperature), [], np.random.default_rng(0))


@pytest.mark.parametrize("ids", [[2], [-1]])
def test_ids_outside_the_vocabulary(ids: list[int]) -> None:
    for history, prompt in ((ids, []), ([], ids)):
        with pytest.raises(MaskwrightError):
            sample([0.0, 1.0], SamplingParams(), history, np.random.default_rng(0), prompt)


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"min_p": -0.1},
        {"min_p": 1.1},
        {"repetition_penalty": 0.0},
        {"presence_penalty": math.inf},
        {"frequency_penalty": math.nan},
    ],
)
def test_parameters_outside_their_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(MaskwrightError, match=next(iter(wrong))):
        SamplingParams(**wrong)
