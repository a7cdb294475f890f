"""How is a mask packed, and put on logits? int32 words, token t is bit t % 32 of word t // 32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwright._native import mask_logits
from maskwright.errors import MaskwrightError

__all__ = ["allocate_bitmask", "apply_bitmask", "bitmask_width"]

_MINUS_INFINITY = {"float16": 0xFC00, "bfloat16": 0xFF80, "float32": 0xFF80_0000, "float64": -(1 << 52)}
"""As the bits of an integer of that width."""


def bitmask_width(vocab_size: int) -> int:
    """Words in a row: 32 tokens each.

    >>> bitmask_width(128_256)
    4008
    """
    return -(-vocab_size // 32)


def allocate_bitmask(batch: int, vocab_size: int) -> NDArray[np.int32]:
    """A bitmask for `batch` requests: int32 [batch, ceil(vocab_size / 32)], all tokens masked.

    `vocab_size` is the width of the model's logits. `torch.from_numpy` makes a tensor of it that shares its
    memory.

    >>> allocate_bitmask(2, 100).shape
    (2, 4)
    """
    return np.zeros((batch, bitmask_width(vocab_size)), np.int32)


def apply_bitmask(logits: Any, bitmask: Any) -> None:
    """Set the logits of masked tokens to minus infinity, in place.

    `logits` is a float array [vocab] or [batch, vocab], NumPy's or a torch tensor on any device, of any
    float type and any strides; `bitmask` the rows for it, int32 [words] or [batch, words], NumPy's or
    torch's. Logits past the bitmask's last word are masked: they belong to padding. A bitmask may be wider
    than the logits only if it allows nothing there. Raises `MaskwrightError` where shapes, types or widths
    do not fit, and then changes nothing.

    On a CPU, 128,000 float32 logits take about 30 µs, whatever the mask (NumPy's masked copy takes up to
    600).

    >>> logits = np.zeros(3, np.float32)
    >>> apply_bitmask(logits, np.array([0b101], np.int32))
    >>> logits.tolist()
    [0.0, -inf, 0.0]
    """
    if type(logits).__module__.partition(".")[0] == "torch":
        _apply_torch(logits, bitmask)
    elif not isinstance(logits, np.ndarray) or not np.issubdtype(logits.dtype, np.floating):
        raise _refused("logits", f"must be a NumPy array or a torch tensor of floats, not {_kind(logits)}")
    else:
        _apply_numpy(logits, logits.dtype.name, _words(bitmask))


def _apply_numpy(logits: NDArray[Any], dtype: str, words: NDArray[np.int32]) -> None:
    """`logits` are floats of type `dtype`, or integers with their bits."""
    _check_shapes(logits.shape, words.shape)
    if not logits.flags.writeable:
        raise _refused("logits", "is read-only")
    if not logits.size:
        return
    rows = logits.reshape(1, -1) if logits.ndim == 1 and logits.flags.c_contiguous else logits
    masks = words.reshape(1, -1) if words.ndim == 1 else words
    _check_width(rows.shape[-1], masks)
    without_gaps = rows.ndim == 2 and (rows.shape[1] == 1 or rows.strides[1] == rows.itemsize)
    if without_gaps and dtype in _MINUS_INFINITY and rows.dtype.isnative:
        mask_logits(rows.view(f"u{rows.itemsize}"), masks, _MINUS_INFINITY[dtype])
    else:
        bits = np.unpackbits(masks.view(np.uint8), axis=-1, bitorder="little")[:, : logits.shape[-1]]
        width = bits.shape[-1]
        logits[..., width:] = -np.inf
        np.copyto(logits[..., :width], -np.inf, where=bits.reshape(*logits.shape[:-1], width) == 0)


def _apply_torch(logits: Any, bitmask: Any) -> None:
    import torch  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - an optional extra, slow

    if not logits.is_floating_point():
        raise _refused("logits", f"must be floats, not {logits.dtype}")
    dtype = str(logits.dtype).removeprefix("torch.")
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}.get(logits.element_size())
    if (
        logits.device.type == "cpu"
        and dtype in _MINUS_INFINITY
        and (logits.numel() < 2 or logits.stride(-1) == 1)
    ):
        _apply_numpy(logits.detach().view(integer).numpy(), dtype, _words(bitmask))
        return
    words = torch.as_tensor(bitmask)
    if words.dtype != torch.int32:
        raise _refused("bitmask", f"must be int32, not {words.dtype}")
    _check_shapes(tuple(logits.shape), tuple(words.shape))
    words = words.to(logits.device)
    shifts = torch.arange(32, dtype=torch.int32, device=logits.device)
    bits = ((words.unsqueeze(-1) >> shifts) & 1).flatten(-2).bool()
    width = min(logits.shape[-1], bits.shape[-1])
    if bits.shape[-1] >= width + 32 and bool(bits[..., width:].any()):
        raise _too_narrow(logits.shape[-1], bits.shape[-1] // 32)
    with torch.no_grad():
        logits[..., width:] = float("-inf")
        logits[..., :width].masked_fill_(~bits[..., :width], float("-inf"))


def _words(bitmask: Any) -> NDArray[np.int32]:
    if type(bitmask).__module__.partition(".")[0] == "torch":
        bitmask = bitmask.cpu().numpy()
    if not isinstance(bitmask, np.ndarray) or bitmask.dtype != np.int32:
        raise _refused("bitmask", f"must be an int32 array, not {_kind(bitmask)}")
    return np.ascontiguousarray(bitmask)


def _check_shapes(logits: tuple[int, ...], words: tuple[int, ...]) -> None:
    if len(logits) not in {1, 2} or len(words) != len(logits) or logits[:-1] != words[:-1]:
        raise _refused("bitmask", f"has the shape {words}, which does not fit logits of shape {logits}")


def _check_width(width: int, masks: NDArray[np.int32]) -> None:
    """Logits narrower than what the bitmask allows are those of another model."""
    n_words = bitmask_width(width)
    if n_words < masks.shape[1] and masks[:, n_words:].any():
        raise _too_narrow(width, masks.shape[1])


def _too_narrow(width: int, n_words: int) -> MaskwrightError:
    return _refused(
        "logits", f"has {width} columns, and the bitmask of {n_words} words allows tokens past them"
    )


def _refused(argument: str, what: str) -> MaskwrightError:
    return MaskwrightError(f"{argument} {what}", where=argument, code=f"argument.{argument}")


def _kind(value: Any) -> str:
    return f"{value.dtype} array" if isinstance(value, np.ndarray) else type(value).__name__
