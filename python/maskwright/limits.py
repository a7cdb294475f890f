"""How much may a format cost? Ceilings on work and memory, with what each of them counts.

Limits count states, steps and bytes, never seconds: the same input gets the same verdict on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.errors import MaskwrightError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings of the engine. Past one of them a `LimitError` names it.

    Raises `MaskwrightError` for a ceiling that is no positive int.

    rules         rules of a compiled format, counted loops among them
    states        states built while compiling, before equal ones are merged
    dfa_states    states built for parts with `&`, `~` or lookaround
    edges         edges of a compiled format
    mask_work     steps of one mask or one advance (a step takes 5 to 50 ns)
    stack_depth   how deep a text may be nested, in rules
    cache_bytes   what an index may remember; past it the index forgets and starts again, it never fails

    >>> Limits(stack_depth=100).stack_depth
    100
    """

    rules: int = 100_000
    states: int = 500_000
    dfa_states: int = 100_000
    edges: int = 2_000_000
    mask_work: int = 5_000_000
    stack_depth: int = 100_000
    cache_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 63:
                raise MaskwrightError(
                    f"the limit {name} must be an int from 1 to 2**63 - 1, not {value!r}",
                    where=name,
                    code="argument.limits",
                )

    def as_words(self) -> list[int]:
        """The ceilings in the order in which the engine takes them."""
        return [getattr(self, name) for name in self.__slots__]
