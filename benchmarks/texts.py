"""Which texts are the engines driven along? 200 JSON texts of our own making, from a seeded generator.

Each is a list or tree of records of one random shape: strings (prose, other scripts, escapes, codes, links),
numbers, arrays, nested records; 50 to 2,000 tokens, sizes even on a logarithmic scale; a quarter indented.
As in MaskBench's instances, about half of the tokens lie inside a string and a third cross a quote.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

SEED = 20_240_607
COUNT = 200
FEWEST, MOST = 50, 2_000

_WORDS: dict[str, list[str]] = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
_LAYOUTS: tuple[tuple[int, dict[str, Any]], ...] = (
    (12, {}),
    (3, {"separators": (",", ":")}),
    (3, {"indent": 2}),
    (1, {"indent": 4}),
    (1, {"indent": "\t"}),
)

Maker = Callable[[Random], Any]


@dataclass(frozen=True, slots=True)
class Text:
    """One text with its tokens."""

    text: str
    tokens: tuple[int, ...]


def make_texts(encode: Callable[[str], list[int]], count: int = COUNT, seed: int = SEED) -> list[Text]:
    """The first `count` texts of a seed. `encode`, the tokenizer, decides where a text is long enough."""
    return [_make_text(Random(f"{seed}/{i}"), encode) for i in range(count)]


def _make_text(random: Random, encode: Callable[[str], list[int]]) -> Text:
    target = round(math.exp(random.uniform(math.log(FEWEST * 1.2), math.log(MOST * 0.85))))
    layout = random.choices([style for _, style in _LAYOUTS], [weight for weight, _ in _LAYOUTS])[0]
    style = {"ensure_ascii": random.random() < 0.25, **layout}
    shape = _record_shape(random, depth=0)
    records: list[Any] = []
    best: Text | None = None
    while best is None or len(best.tokens) < target:
        records.append(shape(random))
        text = json.dumps(_document(records), **style)
        grown = Text(text, tuple(encode(text)))
        if len(grown.tokens) > MOST:
            if best is not None:
                return best
            records, shape = [], _record_shape(random, depth=2)
            continue
        best = grown
    return best


def _document(records: list[Any]) -> Any:
    """One record stands alone, more of them stand in an envelope."""
    return records[0] if len(records) == 1 else {"count": len(records), "items": records}


def _record_shape(random: Random, depth: int) -> Maker:
    """A random record type: its keys are fixed, its values are drawn anew for each record."""
    width = random.randint(3, 8) if depth < 2 else random.randint(2, 4)
    members = {_key(random): _value_shape(random, depth) for _ in range(width)}

    def make(random: Random) -> dict[str, Any]:
        return {key: value(random) for key, value in members.items() if random.random() < 0.9}

    return make


def _value_shape(random: Random, depth: int) -> Maker:
    if depth < 3 and random.random() < 0.22:
        return _record_shape(random, depth + 1)
    if depth < 3 and random.random() < 0.2:
        item, most = _value_shape(random, depth + 1), random.randint(1, 6)
        return lambda random: [item(random) for _ in range(random.randint(0, most))]
    return random.choices(_SCALARS, _WEIGHTS)[0]


def _key(random: Random) -> str:
    words = [random.choice(_WORDS["names"]) for _ in range(random.choice((1, 1, 1, 2, 2, 3)))]
    style = random.randrange(3)
    if style == 0:
        return "_".join(words)
    return "-".join(words) if style == 1 else words[0] + "".join(word.title() for word in words[1:])


def _word(random: Random) -> str:
    return "".join(random.choices(_WORDS["syllables"], k=random.randint(1, 3)))


def _prose(random: Random) -> str:
    words = random.choices(_WORDS["prose"], k=random.choice((4, 6, 8, 12, 30)))
    return " ".join(words).capitalize() + random.choice((".", "!", "?", "; see below."))


def _code(random: Random) -> str:
    return "".join(random.choices("0123456789abcdef", k=random.choice((8, 12, 24, 32))))


def _moment(random: Random) -> str:
    day = f"{random.randint(1990, 2030)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    return f"{day}T{random.randint(0, 23):02}:{random.randint(0, 59):02}:00Z"


def _link(random: Random) -> str:
    return f"https://{_word(random)}.example/{_word(random)}/{random.randint(1, 9999)}?q={_word(random)}"


def _decimal(random: Random) -> float:
    return round(random.uniform(-1000, 1000), random.randint(1, 6))


def _extreme(random: Random) -> float:
    return random.choice((1e-9, 6.02e23, -2.5e-7, 1.7e300)) * random.randint(1, 9)


_SCALARS: tuple[Maker, ...] = (
    _prose,
    lambda random: random.choice(_WORDS["names"]),
    lambda random: " ".join(random.choices(_WORDS["prose"], k=random.randint(1, 3))),
    _word,
    lambda random: random.choice(_WORDS["scripts"]),
    lambda random: random.choice(_WORDS["escaped"]) + " " + _word(random),
    _code,
    _moment,
    _link,
    lambda random: random.randint(-5, 10 ** random.randint(1, 12)),
    _decimal,
    _extreme,
    lambda random: random.random() < 0.5,
    lambda random: None,
    lambda random: [_decimal(random) for _ in range(random.randint(0, 8))],
    lambda random: "",
)
_WEIGHTS = (8, 16, 16, 8, 4, 3, 4, 4, 3, 14, 8, 2, 8, 4, 2, 2)
