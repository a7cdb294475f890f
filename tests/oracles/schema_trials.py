"""What becomes of one random schema? Its instances, from everywhere, against its formats and the validators.

Everything about a trial follows from its seed.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from random import Random
from typing import Any

import maskwright as mw
from oracles.changed_values import changed
from oracles.random_schemas import DRAFTS, REMOTE, random_schema, random_value, words_of
from oracles.schema_validators import SCHEMA_IDS, Judges
from oracles.spelled_values import any_text, is_plain, orders, plain_text, twice_a_key

__all__ = ["Trials"]

EXTRA = [b", ", b'": ', *rb'": ", {" "} }] ab 12 0. true null [" []'.split()]
TOKENS = [*(bytes([byte]) for byte in range(256)), *EXTRA, None]
EOS = len(TOKENS) - 1
CLOSING = [token for token in range(EOS) if TOKENS[token][:1] in (b'"', b"]", b"}")]
BLANK = frozenset(token for token in range(EOS) if TOKENS[token].isspace())
STYLES: dict[str, dict[str, Any]] = {
    "accept": {"style": "accept"},
    "any order": {"property_order": "any"},
    "schema order": {},
}
DRAWN, MADE, RANDOM, CHANGED = 3, 16, 6, 16
"""Instances a schema: drawn from each format, made, random, changed."""
MADE_EVERY, MAX_MADE = 4, 900
"""Of so many seeds one has made instances, if its schema is no longer than this: those of a schema take
0.14 s, and 20 s in long ones; all the rest of a trial takes 0.03 s."""

MAX_SAID = 3
"""Failures of one schema that are told: the rest of them are likely the same."""
MAX_MULTIPLE = 10**39
"""From here on `accept` does not take a multiple of a number: the documented bound on its digits."""


class Trials:
    """Runs seeds; `counts` says what was done, `failures` what was wrong, a line each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self._compiler = mw.Compiler(mw.Vocabulary.from_tokens(TOKENS, eos_id=EOS), cache_bytes=0)

    def run(self, seed: int) -> None:
        """One schema and all its instances."""
        _Trial(self, seed).run(self._compiler)


class _Trial:
    def __init__(self, trials: Trials, seed: int) -> None:
        self.counts, self.failures = trials.counts, trials.failures
        self.seed = seed
        self.said = 0
        random = self.random = Random(seed)
        self.draft = random.choice((*DRAFTS, "2020-12", "2020-12", "2019-09"))
        self.schema = random_schema(random, random.choice((2, 3, 3, 4)), self.draft)
        self.registry = {REMOTE: {"type": random.sample(["string", "integer", "array", "object"], 2)}}
        self.enforced = random.random() < 0.7
        self.judges = Judges(self.schema, self.draft, self.registry, self.enforced)
        self.words = words_of(self.schema)

    def run(self, compiler: mw.Compiler) -> None:
        self.counts["schemas"] += 1
        indexes = {style: self._compiled(compiler, style) for style in STYLES}
        self.indexes = {style: index for style, index in indexes.items() if isinstance(index, mw.Index)}
        self.empty = "schema.no-value" in indexes.values()
        if not self.indexes and not self.empty:
            self.counts[f"refused: {indexes['accept']}"] += 1
            return
        self.counts["schemas that compiled"] += bool(self.indexes)
        known = [("drawn", value) for value in self._drawn()]
        if self.seed % MADE_EVERY == 0 and len(json.dumps(self.schema)) <= MAX_MADE:
            known += [("made", value) for value in self._made()]
        known += [("random", random_value(self.random, 3)) for _ in range(RANDOM)]
        for kind, value in known:
            self._check(kind, value)
        for _ in range(CHANGED):
            self._check("changed", changed(self.random.choice(known)[1], self.random, *self.words))

    def _compiled(self, compiler: mw.Compiler, style: str) -> mw.Index | str:
        """The index; the code of the error where it is refused."""
        options: dict[str, Any] = {"draft": self.draft, **STYLES[style]}
        schema = self.schema
        if isinstance(schema, dict) and self.random.random() < 0.5:
            schema, options["draft"] = {"$schema": SCHEMA_IDS[self.draft], **schema}, None
        options["formats"] = "enforce" if self.enforced else "annotate"
        try:
            return compiler.json_schema(schema, registry=self.registry, **options)
        except mw.InternalError as error:
            self._fail(f"{style}: {error}")
        except (mw.SchemaError, mw.LimitError) as error:
            if not error.code or not error.where:
                self._fail(f"{style}: an error without a place or a code: {error}")
            return error.code
        return "internal"

    # Instances

    def _drawn(self) -> list[Any]:
        """Values of texts along the masks, each of which must be valid."""
        found = []
        for style, index in self.indexes.items():
            for _ in range(DRAWN):
                text = self._draw(style, index)
                if text is None:
                    self.counts["drawn without an end"] += 1
                    continue
                try:
                    value = json.loads(text, object_pairs_hook=_once, parse_float=_exact)
                except OverflowError:
                    self.counts["drawn with a number that no float holds"] += 1
                    continue
                except ValueError as error:
                    self._fail(f"{style}: drawn {text!r}: {error}")
                    continue
                if not self._is_left_out(value) and self.judges.verdict(value) is False:
                    self._fail(f"{style}: drawn {text!r} is not valid")
                found.append(value)
        return found

    def _draw(self, style: str, index: mw.Index, most: int = 150) -> str | None:
        """A text by random allowed tokens, closing where it can after a while; None where it does not end."""
        constraint, random = index.constraint(), self.random
        text = b""
        for _ in range(most):
            allowed = set(constraint.mask().nonzero()[0].tolist())
            if not allowed:
                self._fail(f"{style}: stranded after {text!r}")
                return None
            if EOS in allowed and (len(allowed) == 1 or random.random() < 0.5):
                return text.decode()
            allowed.discard(EOS)
            choices = sorted(allowed - BLANK if random.random() < 0.9 else allowed) or sorted(allowed)
            closing = [token for token in CLOSING if token in allowed]
            plain = [token for token in choices if TOKENS[token][0] < 128]
            if closing and random.random() < 0.5:
                choices = closing
            elif plain and random.random() < 0.95:
                choices = plain
            token = random.choice(choices)
            constraint.advance(token)
            text += TOKENS[token]
        return None

    def _made(self) -> list[Any]:
        """Values by hypothesis-jsonschema; it knows drafts 4, 6 and 7, no words of others."""
        try:
            from hypothesis_jsonschema import from_schema  # noqa: PLC0415 - may be absent
        except ImportError:
            return []
        from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: PLC0415

        found: list[Any] = []

        def collect(value: Any) -> None:
            found.append(value)

        named = isinstance(self.schema, dict) and self.draft in ("4", "6", "7")
        schema = {"$schema": SCHEMA_IDS[self.draft], **self.schema} if named else self.schema
        options = settings(
            max_examples=MADE,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            deadline=None,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seed(self.seed)(options(given(from_schema(schema))(collect)))()
        except Exception:  # whatever it cannot do; it is one source of several
            self.counts["schemas that hypothesis-jsonschema makes nothing of"] += 1
        return found

    # Verdicts

    def _check(self, kind: str, value: Any) -> None:
        """Does each format accept the value exactly if it is valid?"""
        if self._is_left_out(value):
            self.counts["left out: a number that validators see otherwise"] += 1
            return
        if ":60" in json.dumps(value):
            self.counts["left out: leap seconds, which `generate` writes in UTC alone"] += 1
            return
        valid = self.judges.verdict(value)
        if valid is None:
            self.counts[f"left out: validators differ ({kind})"] += 1
            return
        self.counts["instances"] += 1
        self.counts[f"instances {kind}"] += 1
        self.counts["valid instances"] += valid
        if self.empty and valid:
            self._fail(f"no value, it was said, but this is one: {json.dumps(value)}")
        for style, index in self.indexes.items():
            self._check_texts(style, index, value, valid)

    def _is_left_out(self, value: Any) -> bool:
        """Whether a value has a number that validators see otherwise, or beyond the bound on digits."""
        return any(self._is_seen_otherwise(number) for number in _numbers(value))

    def _is_seen_otherwise(self, number: float) -> bool:
        """A float beyond 2**53 is not the decimal that is written; to draft 4 1.0 is no integer."""
        if isinstance(number, float):
            return abs(number) >= 2**53 or (self.draft == "4" and number.is_integer())
        return abs(number) >= MAX_MULTIPLE

    def _check_texts(self, style: str, index: mw.Index, value: Any, valid: bool) -> None:
        if style == "accept":
            texts = [any_text(value, self.random)]
        elif not is_plain(value):
            self.counts["left out: a number without a plain spelling"] += 1
            return
        elif style == "any order":
            texts = [plain_text(value, self.random)]
        else:
            texts = [plain_text(one, self.random) for one in orders(value) or ()]
            if not texts:
                self.counts["left out: too many orders"] += 1
                return
        self.counts["texts"] += len(texts)
        accepted = [text for text in texts if self._accepts(index, text)]
        if bool(accepted) is not valid:
            self._fail(f"{style}: {(accepted or texts)[0]!r} is {'valid' if valid else 'not valid'}")
        twice = twice_a_key(value)
        if twice and self._accepts(index, twice):
            self._fail(f"{style}: {twice!r} has a key twice")

    def _accepts(self, index: mw.Index, text: str) -> bool:
        """Whether the text is in the format, cut into tokens at random."""
        constraint, data = index.constraint(), text.encode()
        tokens, place = [], 0
        while place < len(data):
            long = [token for token in range(256, EOS) if data.startswith(TOKENS[token], place)]
            token = self.random.choice(long) if long and self.random.random() < 0.5 else data[place]
            tokens.append(token)
            place += len(TOKENS[token])
        return constraint.try_advance(tokens) == len(tokens) and constraint.is_complete()

    def _fail(self, what: str) -> None:
        self.counts["failures"] += 1
        if self.said == MAX_SAID:
            return
        self.said += 1
        formats = "" if self.enforced else ', formats="annotate"'
        schema = json.dumps(self.schema)
        self.failures.append(f"seed {self.seed}: draft {self.draft}{formats}: {schema}: {what}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _exact(text: str) -> float:
    """A number as the validators take it; `OverflowError` for one that a float does not hold exactly."""
    number = float(text)
    try:
        same = Decimal(repr(number)) == Decimal(text)
    except InvalidOperation:  # an exponent of 20 digits
        same = False
    if not same:
        raise OverflowError(text)
    return number


def _numbers(value: Any) -> Iterator[float]:
    """All numbers of a value."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
    for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from _numbers(inner)
