"""Does the reference constraint keep the protocol that every constraint follows?"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from maskwright import Compiler, Vocabulary
from maskwright.errors import MaskwrightError, TokenNotAllowed
from maskwright.protocol import ConstraintProtocol
from maskwright.reference import Constraint, TokenIndex, regex_to_dfa

TOKENS = [b"a", b"b", b"ab", b"ba", b"", None, b"</s>", None, *[b"c"] * 60, b"abab"]
EOS = [6, 7]  # one with bytes, one without


@pytest.fixture
def constraint() -> Constraint:
    return Constraint(TokenIndex(regex_to_dfa("(ab)*"), TOKENS, eos_id=EOS))


def snapshot(c: Constraint) -> tuple[object, ...]:
    return c.state, c.tokens, c.done, c.is_complete(), c.mask().tobytes()


def test_follows_the_protocol(constraint: Constraint) -> None:
    assert isinstance(constraint, ConstraintProtocol)
    checked: ConstraintProtocol = constraint
    assert checked.tokens == ()


def test_every_end_of_sequence_counts(constraint: Constraint) -> None:
    for eos_id in EOS:
        twin = constraint.fork()
        twin.advance(2)
        twin.advance(eos_id)
        assert (twin.done, twin.is_complete(), twin.tokens) == (True, True, (2, eos_id))


def test_allows_is_the_mask(constraint: Constraint) -> None:
    for token_id in (0, 1, 2):
        allowed = [constraint.allows(i) for i in range(len(TOKENS))]
        assert allowed == constraint.mask().tolist()
        if constraint.allows(token_id):
            constraint.advance(token_id)
    assert not constraint.allows(-1)
    assert not constraint.allows(len(TOKENS))


def test_refused_tokens_change_nothing(constraint: Constraint) -> None:
    constraint.advance(0)
    before = snapshot(constraint)
    for token_id in (0, 3 + 1, 5, 6, -1, len(TOKENS)):
        with pytest.raises(TokenNotAllowed) as caught:
            constraint.advance(token_id)
        assert caught.value.token_id == token_id
        assert caught.value.why == 'expected "b"'
    assert snapshot(constraint) == before


def test_a_refusal_says_what_was_expected() -> None:
    index = TokenIndex(
        regex_to_dfa(r"[0-9]+(?:\xff)?"), [b"1", b"x", None, b"\xff", b"0", b"2", b"99"], eos_id=2
    )
    constraint = Constraint(index)
    constraint.advance(0)
    with pytest.raises(TokenNotAllowed) as caught:
        constraint.advance(1)
    assert caught.value.why == 'expected "0" to "2", "9", "\\xff", the end of the text'
    constraint.advance(2)
    with pytest.raises(TokenNotAllowed) as caught:
        constraint.advance(0)
    assert caught.value.why == "the constraint is done"


@pytest.mark.parametrize(
    ("proposed", "taken"),
    [
        ([], 0),
        ([0, 1, 2], 3),
        ([1], 0),
        ([0, 0], 1),
        ([2, 6, 2], 2),
        ([2, 7, 6], 2),
        ([0, 6], 1),
        ([0, 4], 1),
        ([0, 99], 1),
    ],
)
def test_draft_tokens(constraint: Constraint, proposed: list[int], taken: int) -> None:
    before = snapshot(constraint)
    assert constraint.count_allowed(iter(proposed)) == taken
    assert snapshot(constraint) == before
    assert constraint.try_advance(iter(proposed)) == taken
    assert constraint.tokens == tuple(proposed[:taken])


def test_rollback_undoes_exactly(constraint: Constraint) -> None:
    history = [snapshot(constraint)]
    for token_id in (0, 3, 1, 2, 6):
        constraint.advance(token_id)
        history.append(snapshot(constraint))
    for count in (6, -1):
        with pytest.raises(MaskwrightError):
            constraint.rollback(count)
        assert snapshot(constraint) == history[-1]
    constraint.rollback(0)
    constraint.rollback(1)
    assert not constraint.done
    assert snapshot(constraint) == history[4]
    constraint.rollback(3)
    assert snapshot(constraint) == history[1]
    constraint.reset()
    assert snapshot(constraint) == history[0]
    with pytest.raises(MaskwrightError):
        constraint.rollback(1)


def test_a_fork_is_independent(constraint: Constraint) -> None:
    constraint.advance(2)
    twin = constraint.fork()
    before = snapshot(constraint)
    twin.advance(0)
    assert snapshot(constraint) == before
    constraint.rollback(1)
    assert twin.tokens == (2, 0)


def test_after_the_end(constraint: Constraint) -> None:
    constraint.advance(6)
    bitmask = np.full((1, 3), -1, np.int32)
    constraint.fill_bitmask(bitmask)
    assert not bitmask.any()
    assert constraint.try_advance([2, 6]) == constraint.count_allowed([2, 6]) == 0
    assert not any(constraint.allows(i) for i in range(len(TOKENS)))
    assert constraint.forced_text() == b""
    assert constraint.is_complete()


@pytest.mark.parametrize("words", [3, 5])
def test_bitmask_rows(constraint: Constraint, words: int) -> None:
    bitmask = np.full((3, words), 0x55555555, np.int32)
    assert constraint.fill_bitmask(bitmask, 1) is True
    bits = [bool(int(bitmask[1, i // 32]) >> (i % 32) & 1) for i in range(words * 32)]
    assert bits[: len(TOKENS)] == constraint.mask().tolist()
    assert not any(bits[len(TOKENS) :])
    assert (bitmask[[0, 2]] == 0x55555555).all()
    flat = np.full(words, -1, np.int32)
    constraint.fill_bitmask(flat)
    assert (flat == bitmask[1]).all()
    wide = np.zeros((3, 2 * words), np.int32)[:, ::2]  # rows that are not contiguous
    constraint.fill_bitmask(wide, 2)
    assert (wide[2] == bitmask[1]).all()


def test_bitmask_of_everything_is_no_mask() -> None:
    constraint = Constraint(TokenIndex(regex_to_dfa("[abc]*"), [b"a", b"bc", None], eos_id=2))
    bitmask = np.zeros((1, 1), np.int32)
    assert constraint.fill_bitmask(bitmask) is False
    assert bitmask[0, 0] == 0b111
    special = Constraint(TokenIndex(regex_to_dfa("[abc]*"), [b"a", b"bc", None, None], eos_id=2))
    assert special.fill_bitmask(bitmask) is True


@pytest.mark.parametrize(
    ("bitmask", "row"),
    [
        (np.zeros((2, 3), np.int64), 0),
        (np.zeros((2, 3), np.float32), 0),
        (np.zeros((2, 2), np.int32), 0),
        (np.zeros((2, 3), np.int32), 2),
        (np.zeros((2, 3), np.int32), -1),
        (np.zeros((1, 2, 3), np.int32), 0),
        ([0, 0, 0], 0),
    ],
)
def test_bitmask_that_does_not_fit(constraint: Constraint, bitmask: object, row: int) -> None:
    with pytest.raises(MaskwrightError):
        constraint.fill_bitmask(bitmask, row)


def test_forced_text_is_what_all_completions_share() -> None:
    def forced(pattern: str, *taken: bytes) -> bytes:
        tokens = [*taken, *(bytes([byte]) for byte in range(256)), None]
        constraint = Constraint(TokenIndex(regex_to_dfa(pattern), tokens, eos_id=len(tokens) - 1))
        constraint.try_advance(range(len(taken)))
        return constraint.forced_text()

    assert forced("abc|abd") == b"ab"
    assert forced("abc") == b"abc"
    assert forced("abc", b"ab") == b"c"
    assert forced("abc", b"abc") == b""
    assert forced("a(bc)?") == b"a"
    assert forced("[ab]c") == b""
    assert forced("a*") == b""


@pytest.mark.parametrize(
    ("pattern", "tokens", "forced"),
    [
        ("[ab]c", [b"a", b"c", None], b"ac"),  # no b
        ("a(bc|d)", [b"ab", b"d", b"c", None], b"abc"),  # a is no token, and ad none
        ("(ab|ac)d", [b"a", b"ab", b"cd", b"d", b"c", None], b"a"),
        ("aab|ab*", [b"aab", b"ab", None], b"a"),
        ("a", [b"b", None], b""),
    ],
)
def test_forced_text_is_what_the_tokens_can_write(
    pattern: str, tokens: list[bytes | None], forced: bytes
) -> None:
    constraint = Constraint(TokenIndex(regex_to_dfa(pattern), tokens, eos_id=len(tokens) - 1))
    assert constraint.forced_text() == forced


def test_forced_text_without_a_way_to_the_end_is_bounded() -> None:
    constraint = Constraint(TokenIndex(regex_to_dfa("a*b"), [b"a", None], eos_id=1))
    assert constraint.forced_text() == b"a" * 65_536


def test_a_random_walk_with_rollbacks_agrees_with_a_fresh_constraint() -> None:
    rng = Random(5)
    index = TokenIndex(regex_to_dfa("(a|ba)*b?(ab){1,2}"), TOKENS, eos_id=EOS)
    constraint = Constraint(index)
    for _ in range(400):
        choices = np.flatnonzero(constraint.mask())
        if len(choices) == 0 or rng.random() < 0.3:
            constraint.rollback(rng.randrange(len(constraint.tokens) + 1))
        else:
            constraint.advance(int(rng.choice(choices)))
        fresh = Constraint(index)
        assert fresh.try_advance(constraint.tokens) == len(constraint.tokens)
        assert snapshot(fresh) == snapshot(constraint)


def test_an_index_of_a_compiler_is_refused() -> None:
    index = Compiler(Vocabulary.from_tokens(TOKENS, eos_id=EOS)).regex("(ab)*")
    with pytest.raises(MaskwrightError, match=r"(?s)TokenIndex, not Index.*index\.constraint\(\)"):
        Constraint(index)  # type: ignore[arg-type]
