"""How is a mask packed, and put on logits? int32 words, token t is bit t % 32 of word t // 32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["allocate_bitmask", "apply_bitmask", "bitmask_width"]


def bitmask_width(vocab_size: int) -> int:
    """Words in a row: 32 tokens each.

    >>> bitmask_width(128_256)
    4008
    """
    return -(-vocab_size // 32)


def allocate_bitmask(batch: int, vocab_size: int) -> NDArray[np.int32]:
    """A bitmask for `batch` requests: int32 [batch, ceil(vocab_size / 32)], all tokens masked.

    >>> allocate_bitmask(2, 100).shape
    (2, 4)
    """
    return np.zeros((batch, bitmask_width(vocab_size)), np.int32)


def apply_bitmask(logits: Any, bitmask: Any) -> None:
    """Set the logits of masked tokens to minus infinity, in place.

    `logits` is a float array [vocab] or [batch, vocab], NumPy's or a torch tensor on any device; `bitmask` the rows for
    it, int32 [words] or [batch, words], NumPy's or torch's. Logits past the bitmask's last word are masked: they
    belong to padding. Raises `ValueError` where the shapes do not fit.

    >>> logits = np.zeros(3, np.float32)
    >>> apply_bitmask(logits, np.array([0b101], np.int32))
    >>> logits.tolist()
    [0.0, -inf, 0.0]
    """
    if type(logits).__module__.partition(".")[0] == "torch":
        _apply_torch(logits, bitmask)
        return
    if not isinstance(logits, np.ndarray) or not np.issubdtype(logits.dtype, np.floating):
        raise ValueError("logits must be a NumPy array or a torch tensor of floats")
    words = np.ascontiguousarray(bitmask, np.int32)
    _check_shapes(logits.shape, words.shape)
    bits = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")
    width = min(logits.shape[-1], bits.shape[-1])
    logits[..., width:] = -np.inf
    np.copyto(logits[..., :width], -np.inf, where=bits[..., :width] == 0)


def _apply_torch(logits: Any, bitmask: Any) -> None:
    import torch  # noqa: PLC0415 - an optional extra, and slow to import

    words = torch.as_tensor(bitmask).to(logits.device, torch.int32)
    _check_shapes(tuple(logits.shape), tuple(words.shape))
    shifts = torch.arange(32, dtype=torch.int32, device=logits.device)
    bits = ((words.unsqueeze(-1) >> shifts) & 1).flatten(-2).bool()
    width = min(logits.shape[-1], bits.shape[-1])
    logits[..., width:] = float("-inf")
    logits[..., :width].masked_fill_(~bits[..., :width], float("-inf"))


def _check_shapes(logits: tuple[int, ...], words: tuple[int, ...]) -> None:
    if len(logits) not in {1, 2} or logits[:-1] != words[:-1]:
        raise ValueError(f"logits of shape {logits} and a bitmask of shape {words} do not fit")
