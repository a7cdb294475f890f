r"""Which classes of characters do most formats read? Their parts are made beforehand.

A format that loops on a class (a string, a word, any text) needs the vocabulary's part for it, which takes
1 to 4 ms for 128,000 tokens. No request should wait for that where the class could be foreseen. Digits are
not here: few tokens are made of them, so walking those is as quick.
"""

from __future__ import annotations

from functools import cache

from maskwright.regex.classes import ASCII_WORD, ECMA_NEWLINE, ECMA_SPACE, NEWLINE, python_class
from maskwright.regex.ranges import Ranges, invert, subtract, union

__all__ = ["common_classes"]

_SURROGATES: Ranges = ((0xD800, 0xDFFF),)
_LOWER: Ranges = ((0x61, 0x7A),)
_LETTERS: Ranges = ((0x41, 0x5A), (0x61, 0x7A))
_ESCAPED: Ranges = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
"""What a JSON string cannot hold as it is."""
_DELETE: Ranges = ((0x7F, 0x7F),)


@cache
def common_classes() -> list[list[tuple[int, int]]]:
    """Their code points, as sorted ranges without surrogates.

    >>> [[0x61, 0x7A]] == [list(pair) for pair in common_classes()[-2]]
    True
    """
    space = python_class("space")
    excluded = [
        (),  # any character
        NEWLINE,  # Python's dot
        ECMA_NEWLINE,  # ECMA-262's dot
        _ESCAPED,  # a JSON string
        union(_ESCAPED, _DELETE),  # the same in the grammars of llama.cpp
        union(_ESCAPED, ECMA_SPACE),  # \S in a JSON string
        space,  # Python's \S
        ECMA_SPACE,  # ECMA-262's \S
    ]
    words = [python_class("word"), ASCII_WORD, _LOWER, _LETTERS]
    return [list(subtract(members, _SURROGATES)) for members in [*map(invert, excluded), *words]]
