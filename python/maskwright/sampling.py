"""Which token does the model's output choose? The sampler, for masked logits and for plain ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maskwright.errors import MaskwrightError
from maskwright.protocol import ConstraintProtocol

__all__ = ["SamplingParams", "apply_mask", "constrained_sample", "sample"]

Logits = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How to choose a token. Raises `MaskwrightError` for a value outside its range.

    temperature        : at least 0; 0 is greedy, the largest logit with ties to the lowest id.
    top_k              : keep the k most probable tokens; 0 keeps all.
    top_p              : keep the fewest tokens whose probabilities sum to at least this; in (0, 1].
    min_p              : drop tokens less probable than this times the most probable one; in [0, 1].
    repetition_penalty : above 0; divides the positive logits of tokens seen in prompt or history,
                         and multiplies the negative ones.
    presence_penalty   : subtracted from the logits of tokens seen in the history.
    frequency_penalty  : subtracted once for every time a token was seen in the history.
    seed               : what `rng()` starts from.

    >>> SamplingParams(temperature=0.0, seed=7).rng().random() == SamplingParams(seed=7).rng().random()
    True
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        _require(0 <= self.temperature < math.inf, "temperature", "at least 0", self.temperature)
        _require(self.top_k >= 0, "top_k", "at least 0", self.top_k)
        _require(0 < self.top_p <= 1, "top_p", "above 0 and at most 1", self.top_p)
        _require(0 <= self.min_p <= 1, "min_p", "from 0 to 1", self.min_p)
        _require(
            0 < self.repetition_penalty < math.inf, "repetition_penalty", "above 0", self.repetition_penalty
        )
        _require(math.isfinite(self.presence_penalty), "presence_penalty", "finite", self.presence_penalty)
        _require(math.isfinite(self.frequency_penalty), "frequency_penalty", "finite", self.frequency_penalty)

    def rng(self) -> np.random.Generator:
        """A new generator from `seed`; without a seed one that nobody can repeat."""
        return np.random.default_rng(self.seed)


def apply_mask(logits: ArrayLike, mask: ArrayLike) -> Logits:
    """A float64 copy of `logits` [V] with minus infinity where `mask` (bool [V]) is false.

    Raises `MaskwrightError` if the shapes differ, `mask` is not of booleans, or it allows nothing.

    >>> apply_mask([1.0, 2.0], [True, False]).tolist()
    [1.0, -inf]
    """
    masked = _row(logits).copy()
    allowed = np.asarray(mask)
    if allowed.dtype != np.bool_ or allowed.shape != masked.shape:
        raise MaskwrightError(
            f"a mask of {allowed.dtype} {allowed.shape} does not fit logits of shape {masked.shape}",
            why="it takes one boolean for each logit",
        )
    if not allowed.any():
        raise MaskwrightError("the mask allows no token", why="the constraint is at its end, or has none")
    masked[~allowed] = -np.inf
    return masked


def sample(
    logits: ArrayLike,
    params: SamplingParams,
    history: Sequence[int],
    rng: np.random.Generator,
    prompt: Sequence[int] = (),
) -> tuple[int, float]:
    """Choose a token from `logits` [V]; return its id and its log-probability.

    Penalties come first, then temperature, top_k, top_p and min_p. A logit of minus infinity is never
    drawn. The log-probability is that of the log-softmax of `logits` as given: renormalised over the
    allowed tokens, before penalties and temperature. Greedy choice does not use `rng`; any other takes one
    number from it. Raises `MaskwrightError` if every logit is minus infinity, or one is NaN or plus
    infinity, or an id in `history` or `prompt` is outside the vocabulary.

    >>> sample([0.0, 1.0, 1.0], SamplingParams(temperature=0), [], SamplingParams().rng())[0]
    1
    """
    row = _row(logits)
    _check_drawable(row)
    scores = _penalised(row, params, history, prompt)
    _check_drawable(scores)  # a huge penalty can overflow
    greedy = params.temperature == 0
    token = int(np.argmax(scores)) if greedy else _draw(_probabilities(scores, params), rng)
    return token, float(row[token] - _log_sum_exp(row))


def constrained_sample(  # noqa: PLR0917 - the order of the arguments is the published interface
    logits: ArrayLike,
    c: ConstraintProtocol,
    p: SamplingParams,
    history: Sequence[int],
    rng: np.random.Generator,
    prompt: Sequence[int] = (),
) -> tuple[int, float]:
    """Choose a token that the constraint `c` allows and advance `c` by it; return its id and log-probability.

    The log-probability is under the masked distribution. Raises as `apply_mask` and `sample` do: at the end
    of `c` nothing is allowed.

    >>> from maskwright import Compiler, Vocabulary
    >>> c = Compiler(Vocabulary.from_tokens([b"a", b"b", None], eos_id=2)).regex("b+").constraint()
    >>> p = SamplingParams(temperature=0)
    >>> constrained_sample([5.0, 1.0, 2.0], c, p, [], p.rng())  # "a" is not allowed, nor is the end
    (1, 0.0)
    """
    mask = c.mask()
    if not mask.any() and c.is_complete() and not c.done:
        raise MaskwrightError(
            "the text is complete, and no token can end it",
            why="the vocabulary has no end token",
            try_="eos_id=... where the vocabulary is made, or stop where is_complete() is true",
            code="sampling.no-end",
        )
    token, logprob = sample(apply_mask(logits, mask), p, history, rng, prompt)
    c.advance(token)
    return token, logprob


def _require(holds: bool, name: str, wanted: str, value: float) -> None:
    if not holds:
        raise MaskwrightError(f"{name} must be {wanted}, not {value}", code="sampling.parameter")


def _row(logits: ArrayLike) -> Logits:
    row = np.asarray(logits, np.float64)
    if row.ndim != 1:
        raise MaskwrightError(f"logits must have one dimension, not {row.ndim}")
    return row


def _check_drawable(row: Logits) -> None:
    if not np.isfinite(row.max(initial=-np.inf)):  # a NaN anywhere is the maximum
        raise MaskwrightError(
            "no token can be drawn from these logits",
            why="they are all minus infinity, or one is NaN or plus infinity",
        )


def _penalised(row: Logits, params: SamplingParams, history: Sequence[int], prompt: Sequence[int]) -> Logits:
    """The logits after the penalties; minus infinity stays what it is."""
    in_history, in_prompt = _counts(history, len(row)), _counts(prompt, len(row))
    seen = (in_history + in_prompt) > 0
    scores = row.copy()
    repeated = scores[seen]
    scores[seen] = np.where(
        repeated > 0, repeated / params.repetition_penalty, repeated * params.repetition_penalty
    )
    scores -= params.presence_penalty * (in_history > 0)
    scores -= params.frequency_penalty * in_history
    return scores


def _counts(token_ids: Sequence[int], vocab_size: int) -> NDArray[np.intp]:
    ids = np.asarray(token_ids, np.intp)
    if ids.size and not (ids.min() >= 0 and ids.max() < vocab_size):
        raise MaskwrightError(f"a token id is outside the vocabulary of {vocab_size}")
    return np.bincount(ids, minlength=vocab_size)


def _probabilities(scores: Logits, params: SamplingParams) -> Logits:
    """The distribution to draw from: [V], 0 for every token that was dropped."""
    # The largest score goes first, so that near temperature 0 only the others overflow,
    # to minus infinity.
    with np.errstate(over="ignore"):
        weights = np.exp((scores - scores.max()) / params.temperature)
    order = np.argsort(-weights, kind="stable")  # most probable first, ties to the lowest id
    kept = _top_k(weights[order], params.top_k)
    kept = _top_p(kept, params.top_p)
    kept[kept < params.min_p * kept[0]] = 0
    weights[order] = kept
    total: Logits = weights / weights.sum()
    return total


def _top_k(weights: Logits, k: int) -> Logits:
    if k:
        weights[k:] = 0
    return weights


def _top_p(weights: Logits, p: float) -> Logits:
    """Drop what comes after the shortest beginning that holds `p` of the sum."""
    if p < 1:
        held = np.cumsum(weights) / weights.sum()
        weights[np.searchsorted(held, p) + 1 :] = 0
    return weights


def _draw(probabilities: Logits, rng: np.random.Generator) -> int:
    """The first token whose cumulative probability is above a uniform number in [0, 1)."""
    candidates = np.flatnonzero(probabilities)
    held = np.cumsum(probabilities[candidates])
    # Rounding can leave the last sum a little below 1; scaling by it keeps the number inside.
    return int(candidates[np.searchsorted(held, rng.random() * held[-1], side="right")])


def _log_sum_exp(row: Logits) -> float:
    largest = row.max()
    with np.errstate(over="ignore"):  # a difference may be minus infinity
        return float(largest + np.log(np.exp(row - largest).sum()))
