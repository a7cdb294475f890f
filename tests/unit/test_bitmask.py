"""Does a bitmask put minus infinity exactly where its bits are zero, whatever holds the logits?"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from maskwright import allocate_bitmask, apply_bitmask
from maskwright.bitmask import bitmask_width
from maskwright.errors import MaskwrightError
from numpy.typing import NDArray

SIZES = [1, 31, 32, 33, 64, 100, 4099, 200_000]
DTYPES = ["float16", "float32", "float64", "longdouble", ">f4"]
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is absent")


def random_bitmask(
    rows: int, size: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    mask = rng.random((rows, size)) < rng.random((rows, 1))
    bitmask = allocate_bitmask(rows, size)
    packed = np.packbits(mask, axis=1, bitorder="little")
    bitmask.view(np.uint8)[:, : packed.shape[1]] = packed
    return mask, bitmask


def every_other(rows: int, size: int, dtype: str) -> NDArray[Any]:
    return np.zeros((rows, 2 * size), dtype)[:, ::2]


LAYOUTS: dict[str, Callable[[int, int, str], NDArray[Any]]] = {
    "contiguous": lambda rows, size, dtype: np.zeros((rows, size), dtype),
    "cut from wider": lambda rows, size, dtype: np.zeros((rows, size + 5), dtype)[:, 2:-3],
    "every other row": lambda rows, size, dtype: np.zeros((2 * rows, size), dtype)[::2],
    "rows backwards": lambda rows, size, dtype: np.zeros((rows, size), dtype)[::-1],
    "by columns": lambda rows, size, dtype: np.zeros((size, rows), dtype).T,
    "every other column": every_other,
    "columns backwards": lambda rows, size, dtype: np.zeros((rows, size), dtype)[:, ::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_logits_are_minus_infinity_and_others_untouched(layout: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for size in SIZES[:-1]:
        logits = LAYOUTS[layout](3, size, dtype)
        logits[...] = rng.normal(size=logits.shape)
        surroundings = logits.base.copy() if logits.base is not None else None
        before = logits.copy()
        mask, bitmask = random_bitmask(3, size, rng)
        apply_bitmask(logits, bitmask)
        assert (np.isneginf(logits) == ~mask).all()
        assert (logits[mask] == before[mask]).all()
        if surroundings is not None:
            assert np.isneginf(logits.base).sum() == (~mask).sum(), "something around the logits was written"


@pytest.mark.parametrize("size", SIZES)
def test_one_row(size: int) -> None:
    mask, bitmask = random_bitmask(1, size, np.random.default_rng(2))
    for logits in (
        np.ones(size, np.float32),
        np.ones(3 * size, np.float32)[::3],
        np.ones(size, np.float32)[::-1],
    ):
        apply_bitmask(logits, bitmask[0])
        assert (np.isneginf(logits) == ~mask[0]).all()


def test_special_values_are_kept() -> None:
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.0], np.float64)
    logits = values.copy()
    apply_bitmask(logits, np.array([-1], np.int32))
    assert logits.tobytes() == values.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_logits_past_the_bitmask_are_padding(dtype: str) -> None:
    logits = np.zeros((2, 100), dtype)
    apply_bitmask(logits, np.full((2, 2), -1, np.int32))
    assert (np.isneginf(logits) == (np.arange(100) >= 64)).all()


def test_a_wider_bitmask_may_allow_nothing_past_the_logits() -> None:
    logits = np.zeros(33, np.float32)
    apply_bitmask(logits, np.array([-1, 1, 0, 0], np.int32))
    assert not np.isneginf(logits).any()
    with pytest.raises(MaskwrightError, match="33 columns"):
        apply_bitmask(logits, np.array([0, 0, 0, 4], np.int32))
    assert not np.isneginf(logits).any()


def read_only() -> NDArray[np.float32]:
    logits = np.zeros(32, np.float32)
    logits.setflags(write=False)
    return logits


ROW = np.zeros(1, np.int32)
REFUSED = {
    "list": ([0.0], ROW),
    "ints": (np.zeros(32, np.int64), ROW),
    "int64 bitmask": (np.zeros(32, np.float32), np.zeros(1, np.int64)),
    "list bitmask": (np.zeros(32, np.float32), [0]),
    "more rows": (np.zeros((2, 32), np.float32), np.zeros((3, 1), np.int32)),
    "fewer dimensions": (np.zeros((1, 32), np.float32), ROW),
    "more dimensions": (np.zeros((1, 1, 32), np.float32), np.zeros((1, 1, 1), np.int32)),
    "no dimension": (np.zeros((), np.float32), np.zeros((), np.int32)),
    "read-only": (read_only(), ROW),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    with pytest.raises(MaskwrightError) as caught:
        apply_bitmask(*REFUSED[name])
    assert caught.value.code in {"argument.logits", "argument.bitmask"}


def test_empty_logits() -> None:
    apply_bitmask(np.zeros((0, 32), np.float32), np.zeros((0, 1), np.int32))
    apply_bitmask(np.zeros((2, 0), np.float32), np.zeros((2, 0), np.int32))


@pytest.mark.parametrize(("size", "width"), [(0, 0), (1, 1), (32, 1), (33, 2), (128_256, 4008)])
def test_width(size: int, width: int) -> None:
    assert bitmask_width(size) == width
    bitmask = allocate_bitmask(3, size)
    assert (bitmask.shape, bitmask.dtype, bitmask.any()) == ((3, width), np.int32, False)


@needs_torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_torch_on_the_cpu(dtype: str, size: int) -> None:
    import torch  # noqa: PLC0415

    mask, bitmask = random_bitmask(3, size, np.random.default_rng(3))
    wide = torch.zeros((3, size + 7), dtype=getattr(torch, dtype))
    layouts = [
        torch.zeros_like(wide)[:, :size].clone(),
        wide[:, :size],
        torch.zeros((size, 3), dtype=wide.dtype).t(),
    ]
    for logits in layouts:
        for given in (bitmask, torch.from_numpy(bitmask)):
            logits.zero_()
            apply_bitmask(logits, given)
            assert (torch.isneginf(logits).numpy() == ~mask).all()
    assert not torch.isneginf(wide[:, size:]).any()
    needs_grad = torch.zeros((3, size), dtype=wide.dtype, requires_grad=True)
    apply_bitmask(needs_grad, bitmask)
    assert (torch.isneginf(needs_grad.detach()).numpy() == ~mask).all()
    with pytest.raises(MaskwrightError):
        apply_bitmask(torch.zeros((3, size), dtype=torch.int32), bitmask)
    with pytest.raises(MaskwrightError):
        apply_bitmask(layouts[0], torch.from_numpy(bitmask).long())
