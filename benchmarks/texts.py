"""Which texts are the engines driven along? 200 JSON texts of our own making, from a seeded generator.

Each is a list or tree of records of one random shape: strings (prose, other scripts, escapes, codes, links), numbers,
arrays, nested records; 50 to 2,000 tokens, sizes spread evenly on a logarithmic scale; some on one line, some indented.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

SEED = 20_240_607
COUNT = 200
FEWEST, MOST = 50, 2_000

_SYLLABLES = ["ba", "con", "de", "el", "fi", "gra", "ho", "in", "jo", "ka", "lu", "mer", "no", "or", "pre", "qui", "ro", "sta", "ter", "un", "ver", "wo", "xe", "yard", "zen"]
_NAMES = ["id", "name", "type", "value", "title", "url", "date", "count", "status", "level", "user", "item", "key", "code", "size", "label", "owner", "group", "state", "color", "address", "email", "price", "version", "description", "tags", "start", "end", "total", "first", "last", "parent", "index", "city", "amount", "category", "created", "options"]
_PROSE = ["the", "a", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "with", "as", "at", "by", "from", "this", "which", "or", "an", "be", "are", "not", "but", "their", "river", "market", "engine", "winter", "signal", "garden", "paper", "window", "council", "morning", "number", "letter", "teacher", "music", "bridge", "quickly", "slowly", "often", "never", "always", "under", "over", "between", "against", "during", "without", "within", "along", "open", "small", "large", "early", "late", "blue", "green", "quiet", "sudden", "careful", "ordinary", "walked", "built", "found", "carried", "opened", "measured", "returned"]
_SCRIPTS = (
    "größere Straße für Übermütige",
    "déjà vu, l'été où naît l'œuvre",
    "быстрая река у старого моста",
    "静かな朝の市場で手紙を読む",
    "今天的会议改到下午三点",
    "سوق الصباح قرب الجسر",
    "안녕하세요 겨울 정원",
    "नमस्ते नदी के पार",
    "🚀 lift-off 🌍✨",
    "naïve café – “quoted” … 10 €",
    "Ελληνικά γράμματα",
    "x² + y² ≤ r² → ∞",
)
_ESCAPED = (
    'say "hello"',
    "C:\\data\\new",
    "line one\nline two",
    "tab\there",
    "a/b\\/c",
    "bell\x07 and nul\x00",
    "\r\n\f\b",
)
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
    """The first `count` texts of a seed. `encode` is the tokenizer: it decides where a text is long enough."""
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
    words = [random.choice(_NAMES) for _ in range(random.choice((1, 1, 1, 2, 2, 3)))]
    style = random.randrange(3)
    if style == 0:
        return "_".join(words)
    return "-".join(words) if style == 1 else words[0] + "".join(word.title() for word in words[1:])


def _word(random: Random) -> str:
    return "".join(random.choices(_SYLLABLES, k=random.randint(1, 3)))


def _prose(random: Random) -> str:
    words = random.choices(_PROSE, k=random.choice((4, 6, 8, 12, 30)))
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
    lambda random: random.choice(_NAMES),
    lambda random: " ".join(random.choices(_PROSE, k=random.randint(1, 3))),
    lambda random: _word(random),
    lambda random: random.choice(_SCRIPTS),
    lambda random: random.choice(_ESCAPED) + " " + _word(random),
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
