"""Do the texts of a format and the values of its schema agree? Random schemas against two independent
validators.

Where the validators disagree with each other the value is left out. A refused schema proves nothing and is
counted.
"""

from __future__ import annotations

import json
import os
from decimal import Decimal
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import maskwright as mw
import pytest
from oracles.random_schemas import random_schema, random_value

COUNT = int(os.environ.get("MASKWRIGHT_SCHEMAS", "400"))
SEED = int(os.environ.get("MASKWRIGHT_SEED", "1"))


@pytest.fixture(scope="module")
def compiler() -> mw.Compiler:
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    return mw.Compiler(mw.Vocabulary.from_tokens(tokens, eos_id=256), cache_bytes=0)


def _judges(schema: Any) -> tuple[Any, Any]:
    return jsonschema.Draft202012Validator(schema), jsonschema_rs.Draft202012Validator(schema)


def _valid(judges: tuple[Any, Any], value: Any) -> bool | None:
    """Whether a value is valid; None where the validators do not agree."""
    verdicts = {judge.is_valid(value) for judge in judges}
    return verdicts.pop() if len(verdicts) == 1 else None


def _accepts(index: mw.Index, text: str) -> bool:
    constraint = index.constraint()
    data = text.encode()
    return constraint.try_advance(list(data)) == len(data) and constraint.is_complete()


def _compiled(compiler: mw.Compiler, schema: Any, values: list[Any], **options: Any) -> mw.Index | None:
    """The index; None where it is refused, with a place. Where "no value" is the reason, no value may be
    valid."""
    try:
        return compiler.json_schema(schema, **options)
    except mw.InternalError:
        raise
    except (mw.SchemaError, mw.LimitError) as error:
        assert error.code
        assert error.where, error
        if error.code == "schema.no-value":
            assert not any(_valid(_judges(schema), value) for value in values), json.dumps(schema)
        return None


@pytest.mark.parametrize("part", range(8))
def test_values_are_accepted_exactly_if_valid(compiler: mw.Compiler, part: int) -> None:
    compiled = 0
    for number in range(COUNT // 8):
        seed = SEED * 1_000_003 + part * 100_003 + number
        random = Random(seed)
        schema = random_schema(random)
        judges = _judges(schema)
        values = [random_value(random, 3) for _ in range(30)]
        index = _compiled(compiler, schema, values, style="accept")
        if index is None:
            continue
        compiled += 1
        for value in values:
            valid = _valid(judges, value)
            if valid is not None:
                text = json.dumps(value, ensure_ascii=random.random() < 0.5)
                assert _accepts(index, text) is valid, f"seed {seed}: {json.dumps(schema)} {text}"
    assert compiled > COUNT // 16


@pytest.mark.parametrize("part", range(8))
def test_drawn_texts_are_valid(compiler: mw.Compiler, part: int) -> None:
    for number in range(COUNT // 8):
        seed = SEED * 1_000_003 + part * 100_003 + number
        random = Random(seed)
        schema = random_schema(random)
        judges = _judges(schema)
        index = _compiled(compiler, schema, [], property_order=random.choice(("schema", "any")))
        if index is None:
            continue
        for _ in range(5):
            text = _draw(index, random)
            if text is None:
                continue
            try:
                value = json.loads(text, object_pairs_hook=_once, parse_float=_exact)
            except OverflowError:
                continue
            assert _valid(judges, value) is not False, f"seed {seed}: {json.dumps(schema)} {text!r}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key twice"
    return dict(pairs)


def _exact(text: str) -> float:
    """A number as the validators take it; `OverflowError` for one that a float does not hold exactly."""
    number = float(text)
    if Decimal(repr(number)) != Decimal(text):
        raise OverflowError(text)
    return number


def _draw(index: mw.Index, random: Random, most: int = 200) -> str | None:
    """A text by random allowed bytes, closing where it can after a while; None where it does not end."""
    constraint = index.constraint()
    text = bytearray()
    while len(text) < most:
        allowed = [i for i, yes in enumerate(constraint.mask()) if yes]
        assert allowed, f"stranded after {bytes(text)!r}"
        if constraint.is_complete() and random.random() < 0.5:
            return text.decode()
        choices = [i for i in allowed if i < 128] or [i for i in allowed if i < 256]
        if not choices:
            return text.decode()
        closing = [i for i in choices if i in b'"]}']
        choice = random.choice(closing if closing and random.random() < 0.5 else choices)
        constraint.advance(choice)
        text.append(choice)
    return None
