"""Random patterns, and random texts to try on them, for the comparisons with `re` and with Node."""

from __future__ import annotations

import random

PYTHON_ATOMS = [
    *("a", "b", "ab", "foo", "A", "_", "1", " ", "-", r"\n", r"\.", "é", "ß", "k", "s", "i", "𐐀", "K"),
    *(".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"),
    *(
        "[ab]",
        "[^a]",
        "[a-f]",
        r"[\w-]",
        r"[^\w]",
        "[A-Z]",
        "[k-s]",
        r"[\s1]",
        "[\u00e9-\u017f]",
        "[^\\d_]",
        "[]a]",
        "[a-]",
    ),
]
PYTHON_GAPS = ["^", "$", r"\b", r"\B", r"\A", r"\Z"]
PYTHON_FLAGS = ["(?i:", "(?s:", "(?m:", "(?a:", "(?i-s:", "(?-i:", "(?x: ", "(?ms:", "(?u:", "(?ia:"]
ECMA_ATOMS = [
    *(
        "a",
        "b",
        "ab",
        "foo",
        "A",
        "_",
        "1",
        " ",
        "-",
        r"\n",
        r"\.",
        "é",
        "😀",
        r"\u{61}",
        r"\ud83d\ude00",
        r"\/",
        r"\x41",
    ),
    *(
        ".",
        r"\d",
        r"\w",
        r"\s",
        r"\D",
        r"\W",
        r"\S",
        r"\p{L}",
        r"\P{Lu}",
        r"\p{Script=Greek}",
        r"\cJ",
        "[^]",
        "[]",
    ),
    *(
        "[ab]",
        "[^a]",
        "[a-f]",
        r"[\w]",
        r"[^\w]",
        "[A-Z]",
        r"[\s1]",
        r"[\u00e0-\u{1F600}]",
        r"[^\d_]",
        "[a-]",
        r"[\-a]",
    ),
]
ECMA_GAPS = ["^", "$", r"\b", r"\B"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{1,2}?"]
# Letters with more than two cases, or whose other case is far away, are among the texts on purpose.
LETTERS = "aaabbbfo A_1 .-\n\rék\u212aK\u017fsßẞİ\u0131i𐐀𐐨😀\u0149\u2028\u3000٣Ωя"


class PatternMaker:
    """Makes patterns of one dialect; `assertions` is how often one is put in."""

    def __init__(self, rng: random.Random, dialect: str, assertions: float) -> None:
        self.rng = rng
        self.ecma = dialect == "ecma"
        self.assertions = assertions
        self.atoms = ECMA_ATOMS if self.ecma else PYTHON_ATOMS
        self.gaps = ECMA_GAPS if self.ecma else PYTHON_GAPS

    def pattern(self) -> str:
        start = (
            ""
            if self.ecma or self.rng.random() < 0.8
            else self.rng.choice(["(?i)", "(?s)", "(?m)", "(?a)", "(?im)"])
        )
        return start + self._choice(3)

    def _choice(self, depth: int) -> str:
        return "|".join(self._sequence(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))

    def _sequence(self, depth: int) -> str:
        return "".join(self._item(depth) for _ in range(self.rng.choice([0, 1, 2, 2, 3])))

    def _item(self, depth: int) -> str:
        rng = self.rng
        if rng.random() < self.assertions:
            return self._assertion(depth)
        item = rng.choice(self.atoms)
        if depth and rng.random() < 0.4:
            opening = "(" if self.ecma or rng.random() < 0.5 else rng.choice(PYTHON_FLAGS)
            item = f"{opening}{self._choice(depth - 1)})"
        elif len(item) > 1 and item.isalpha():
            return item
        return item + rng.choice(QUANTIFIERS) if rng.random() < 0.35 else item

    def _assertion(self, depth: int) -> str:
        rng = self.rng
        if not depth or rng.random() < 0.6:
            return rng.choice(self.gaps)
        if rng.random() < 0.15:
            return f"(?:(?!{self._choice(0)})[{rng.choice(['^1', 'a-f', '^a'])}]){rng.choice(QUANTIFIERS)}"
        if rng.random() < 0.65:
            return f"{rng.choice(['(?=', '(?!'])}{self._choice(depth - 1)})"
        body = (
            self._choice(depth - 1)
            if self.ecma
            else "".join(rng.choices(self.atoms[:20], k=rng.randint(1, 2)))
        )
        return f"{rng.choice(['(?<=', '(?<!'])}{body})"

    def text(self) -> str:
        return "".join(self.rng.choices(LETTERS, k=self.rng.choice([0, 1, 1, 2, 2, 3, 4, 5, 7])))


LEGACY_SIGNS = [*"ab\\\\-_[](){}*+?|^$.,:<>=!0123kucxdwsBpP"]
LEGACY_BITS = ["(?:", "(?=", "(?<a>", "[^", "[a-", r"\c", r"\x4", r"\u00", "{1,2}", r"\1"]
LEGACY_LETTERS = "aab_1-\\[](){},uxkcdpP0\x01\x03:<>"


def legacy_pattern(rng: random.Random) -> str:
    """A soup of signs: often no pattern at all, sometimes one without the flag `u` only."""
    return "".join(rng.choice(LEGACY_SIGNS + LEGACY_BITS) for _ in range(rng.randint(1, 8)))


def legacy_text(rng: random.Random) -> str:
    return "".join(rng.choices(LEGACY_LETTERS, k=rng.choice([0, 1, 1, 2, 2, 3, 4, 6])))
