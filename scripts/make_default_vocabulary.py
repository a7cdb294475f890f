"""How was the small vocabulary in python/maskwright/data made? Run it to make it again, byte for byte.

A byte-level BPE of 4,096 ids: two special tokens, the 256 bytes, and the merges found in text that is mixed,
by a fixed seed, from the words, sentences and code of `default_vocabulary.txt`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from maskwright.vocabulary import Vocabulary
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SOURCE = Path(__file__).with_name("default_vocabulary.txt")
TARGET = Path(__file__).parent.parent / "python" / "maskwright" / "data" / "small.vocabulary.json"
SPECIAL = ("<|end|>", "<|tool|>")
SIZE = 4096

WORDS = ("nouns", "verbs", "adjectives", "links", "names", "keys")
"""The sections that list words, which other sections' lines have places for: {n} for one of the nouns."""


def sections() -> dict[str, list[str]]:
    """The source by section: single words, or whole lines."""
    pieces = re.split(r"^\[(\w+)\]\n", SOURCE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    bodies = zip(pieces[::2], pieces[1::2], strict=True)
    return {name: body.split() if name in WORDS else body.strip().splitlines() for name, body in bodies}


def fill(template: str, source: dict[str, list[str]], rng: random.Random) -> str:
    """A line with its places filled: {n}, {v}, {a}, {l}, {w}, {k} by words, {d} by a short number."""
    letters = {"n": "nouns", "v": "verbs", "a": "adjectives", "l": "links", "w": "names", "k": "keys"}

    def chosen(place: re.Match[str]) -> str:
        letter = place[1]
        return (
            str(rng.randrange(10 ** rng.randrange(1, 5)))
            if letter == "d"
            else rng.choice(source[letters[letter]])
        )

    return (
        re.sub(r"\{([nvalwkd])\}", chosen, template)
        .replace(r"\n", "\n")
        .replace("{{", "{")
        .replace("}}", "}")
    )


def document(source: dict[str, list[str]], rng: random.Random, depth: int = 0) -> object:
    """A random JSON value: objects and arrays near the top, scalars below."""
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind >= 6:
        keys = rng.sample(source["keys"], rng.randrange(6))
        return {key: document(source, rng, depth + 1) for key in keys}
    if kind == 5:
        return [document(source, rng, depth + 1) for _ in range(rng.randrange(4))]
    date = f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
    numbers = (rng.randrange(-100, 10000), round(rng.uniform(-1, 1000), rng.randrange(1, 4)))
    text = fill(rng.choice(source["templates"]), source, rng)
    return rng.choice((*numbers, date, True, False, None, rng.choice(source["names"]), text))


def texts(seed: int = 1, rounds: int = 4000) -> Iterator[str]:
    """All the text that the vocabulary is trained on."""
    source, rng = sections(), random.Random(seed)
    for word in (word for name in WORDS for word in source[name]):
        # Often enough that every word becomes a token, with and without a space before it.
        yield from [f"{word} {word} {word.capitalize()}"] * 12
    for _ in range(rounds):
        yield fill(rng.choice(source["templates"]), source, rng)
        yield fill("\n".join(rng.sample(source["code"], 3)), source, rng)
        value = document(source, rng)
        yield json.dumps(value, ensure_ascii=False)
        yield json.dumps(value, separators=(",", ":"))
        yield json.dumps(value, indent=rng.choice((2, 4)))
    yield from source["scripts"] * 25


def trained() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        min_frequency=8,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        max_token_length=16,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def main() -> None:
    vocabulary = Vocabulary.from_huggingface(trained(), eos_id=SPECIAL[0])
    TARGET.parent.mkdir(exist_ok=True)
    vocabulary.to_file(TARGET)
    print(f"{vocabulary!r}, {TARGET.stat().st_size} bytes, {vocabulary.fingerprint()}")


if __name__ == "__main__":
    main()
