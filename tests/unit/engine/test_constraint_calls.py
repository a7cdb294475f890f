"""Do the calls around a mask keep their promises: hints, rows of a batch, what a refusal says?"""

from __future__ import annotations

import threading

import maskwright as mw
import numpy as np
import pytest

TOKENS = [b"a", b"b", None, None]
SPECIAL = {"<tool>": 2}


def compiler(special: dict[str, int] | None = None, vocab_size: int | None = None) -> mw.Compiler:
    return mw.Compiler(mw.Vocabulary.from_tokens(TOKENS, eos_id=3, special=special, vocab_size=vocab_size))


def test_nothing_is_masked_only_where_every_id_is_allowed() -> None:
    """The loop of the README skips the mask then: it could draw the end, a special token or padding."""
    bitmask = mw.allocate_bitmask(1, 40)
    for pattern in ("[ab]*", "[ab]{5,}"):
        for special in (SPECIAL, None):
            assert compiler(special).regex(pattern).constraint().fill_bitmask(bitmask) is True
    everything = 'root ::= ("a" | "b" | <|tool|>)*'
    index = compiler({"<|tool|>": 2}).grammar(everything, "gbnf")
    assert index.constraint().fill_bitmask(bitmask) is False
    padded = compiler({"<|tool|>": 2}, vocab_size=40).grammar(everything, "gbnf")
    assert padded.constraint().fill_bitmask(bitmask) is True
    two = mw.Compiler(mw.Vocabulary.from_tokens([b"a", b"b"]))
    assert two.regex("[ab]{5,}").constraint().fill_bitmask(bitmask) is False


def test_the_readme_loop_ends_where_the_end_is_masked_at_first() -> None:
    constraint = compiler().regex("[ab]{5,}").constraint()
    bitmask, rng = mw.allocate_bitmask(1, 4), np.random.default_rng(3)
    while not constraint.done:
        logits = rng.standard_normal((1, 4))
        if constraint.fill_bitmask(bitmask):
            mw.apply_bitmask(logits, bitmask)
        constraint.advance(int(logits[0].argmax()))
    assert len(constraint.tokens) > 5


@pytest.mark.parametrize("known", [SPECIAL, {}])
def test_a_request_without_a_format_keeps_its_tokens(known: dict[str, int]) -> None:
    """Padding aside; and what is not listed in `rows` stays as it is."""
    made = compiler(known, vocab_size=40)
    bitmask = np.full((3, 2), 7, np.int32)
    assert made.fill_bitmasks([None, made.regex("a").constraint()], bitmask, rows=[2, 0]) is None
    assert bitmask.tolist() == [[0b0001, 0], [7, 7], [0b1111, 0]]


def test_a_row_for_two_requests_is_refused() -> None:
    made = compiler()
    bitmask = np.full((4, 1), 7, np.int32)
    constraints = [made.regex(pattern).constraint() for pattern in ("a", "b", "ab")]
    with pytest.raises(mw.MaskwrightError, match="row 1 is given twice") as caught:
        made.fill_bitmasks(constraints, bitmask, rows=[1, 0, 1])
    assert caught.value.code == "argument.rows"
    assert (bitmask == 7).all()


@pytest.mark.parametrize("token", [1 << 70, -(1 << 70), (1 << 63) - 1, -1, 4, 1])
def test_the_token_of_a_refusal_is_the_one_that_was_given(token: int) -> None:
    constraint = compiler().regex("a").constraint()
    with pytest.raises(mw.TokenNotAllowed, match=str(token)) as caught:
        constraint.advance(token)
    assert caught.value.token_id == token


def test_a_rollback_names_the_number_that_was_given() -> None:
    with pytest.raises(mw.MaskwrightError, match=str(1 << 70)):
        compiler().regex("a").constraint().rollback(1 << 70)


def test_one_constraint_in_many_threads_is_refused_with_a_typed_error() -> None:
    """Or it works: which thread comes first is open. No other error comes out."""
    index = mw.Compiler(mw.Vocabulary.default()).json_schema({"type": "object"})
    constraint, wrong = index.constraint(), []

    def use(seed: int) -> None:
        for at in range(300):
            try:
                (constraint.mask, lambda: constraint.advance(-1), constraint.reset)[(seed + at) % 3]()
                constraint.rollback(0), constraint.try_advance([-1]), constraint.forced_text()
            except mw.MaskwrightError:
                pass
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class Meddler:
    """A number that uses the constraint it is given to, as another thread could in the meantime."""

    def __init__(self, constraint: object) -> None:
        self.constraint = constraint

    def __index__(self) -> int:
        self.constraint.reset()  # type: ignore[attr-defined]
        return 0


def test_a_constraint_is_not_held_while_python_runs() -> None:
    constraint = compiler().regex("ab").constraint()
    constraint.advance(Meddler(constraint))  # type: ignore[arg-type]
    constraint.rollback(Meddler(constraint))  # type: ignore[arg-type]
    assert constraint.try_advance([Meddler(constraint)]) == 1  # type: ignore[list-item]


def test_a_text_that_no_token_can_end() -> None:
    index = mw.Compiler(mw.Vocabulary.from_tokens([b"a", b"b"])).regex("ab?")
    constraint = index.constraint()
    constraint.advance(0)
    with pytest.raises(mw.TokenNotAllowed) as caught:
        constraint.advance(0)
    assert caught.value.why == 'expected "b", the end of the text, for which the vocabulary has no token'
    assert "eos_id" in (caught.value.try_ or "")
    constraint.advance(1)
    params = mw.SamplingParams(temperature=0)
    with pytest.raises(mw.MaskwrightError) as sampled:
        mw.constrained_sample([0.0, 0.0], constraint, params, [], params.rng())
    assert "no end token" in (sampled.value.why or "")
    assert "eos_id" in (sampled.value.try_ or "")
