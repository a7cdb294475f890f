"""What do patterns of the subset look like? Random ones, and random pairs of one language."""

from __future__ import annotations

from random import Random

LITERALS = [
    "a",
    "b",
    "0",
    "_",
    "-",
    " ",
    ",",
    r"\.",
    r"\x61",
    r"\142",
    r"\n",
    r"\\",
    r"\xff",
    "{",
    "]",
    r"\0",
]
CLASSES = [
    "[ab]",
    "[^a]",
    "[a-c0]",
    r"[\d_]",
    r"[^\w]",
    "[-a]",
    "[]b]",
    r"[\x80-\xff]",
    ".",
    r"\d",
    r"\W",
    r"\s",
]
CLASSES += [r"\D", r"\S", r"\w", "[^]a-z]", r"[\b\x00-\x20]", r"[a\-z]"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{0}", "{1,}", "{,2}", "{0,1}", "{1,3}", "{,}"]


def random_pattern(rng: Random, depth: int = 3) -> str:
    """A pattern with all the syntax of the subset, short enough that `re` does not backtrack for long."""
    roll = rng.random()
    if depth == 0 or roll < 0.3:
        return rng.choice(LITERALS if rng.random() < 0.6 else CLASSES)
    if roll < 0.55:
        return "".join(_closed(random_pattern(rng, depth - 1), rng) for _ in range(rng.randrange(4)))
    if roll < 0.75:
        branches = [random_pattern(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
        return _group("|".join(branches), rng)
    return _group(random_pattern(rng, depth - 1), rng) + rng.choice(QUANTIFIERS)


def _closed(pattern: str, rng: Random) -> str:
    """A pattern that can be followed by another: `a|b` and `{` with what follows it are not."""
    return _group(pattern, rng) if "|" in pattern or "{" in pattern else pattern


def _group(pattern: str, rng: Random) -> str:
    return rng.choice(("(?:{})", "({})", "(?:(?#note){})")).replace("{}", pattern)


def random_pair(rng: Random, depth: int = 3) -> tuple[str, str]:
    """Two spellings of one language, rewritten by laws that hold for all languages."""
    if depth == 0:
        return rng.choice(
            (("a", r"\x61"), ("b", "[b]"), ("[ab]", "a|b"), (r"\d", "[0-9]"), ("[^a]", r"[\x00-`b-\xff]"))
        )
    (x, x2), (y, y2), (z, z2) = (_pair_grouped(rng, depth - 1) for _ in range(3))
    return rng.choice(
        (
            (f"{x}|{y}", f"{y2}|{x2}"),
            (f"{x}(?:{y}|{z})", f"{x2}{y2}|{x2}{z2}"),
            (f"(?:{x}|{y}){z}", f"{y2}{z2}|{x2}{z2}"),
            (f"{x}*", f"(?:{x2}+)?"),
            (f"(?:{x}|{y})*", f"(?:{x2}*{y2}*)*"),
            (f"(?:{x}{y})*{x}", f"{x2}(?:{y2}{x2})*"),
            (f"{x}{{1,3}}", f"{x2}(?:{x2}{x2}?)?"),
            (f"{x}{{2,}}", f"{x2}{x2}+"),
            (f"(?:{x}?){{2}}", f"{x2}{{,2}}"),
            (f"{x}|", f"{x2}?"),
            (f"{x}{{0}}{y}", y2),
        )
    )


def _pair_grouped(rng: Random, depth: int) -> tuple[str, str]:
    one, other = random_pair(rng, rng.randrange(depth + 1))
    return f"(?:{one})", f"(?:{other})"
