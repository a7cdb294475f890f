"""Do the texts of a format and the values of its schema agree? Random schemas over all keywords against two
validators that are independent of each other.

A seed makes one schema. Its instances are drawn from the masks, made by hypothesis-jsonschema, made at
random, and changed ones of all these. What is drawn must be valid; any other is accepted exactly if it is
valid, in every spelling by `accept`, in the plain spelling by `generate`, in some order of its members by the
schema's order. Where the validators differ, the instance is left out and counted.

    MASKWRIGHT_SCHEMA_SEEDS=0:40000 pytest -m long -s tests/properties/test_schema_texts.py    many seeds
    MASKWRIGHT_SCHEMA_SEEDS=1234:1235 pytest -m long -s tests/properties/test_schema_texts.py  one again
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from oracles.schema_trials import Trials

PARTS = 8
SEEDS_A_PART = 40
MAX_SHOWN = 20


@pytest.mark.parametrize("part", range(PARTS))
def test_texts_and_values_agree(part: int) -> None:
    trials = Trials()
    for seed in range(part * SEEDS_A_PART, (part + 1) * SEEDS_A_PART):
        trials.run(seed)
    assert not trials.failures, _shown(trials.failures)
    assert trials.counts["schemas that compiled"] > SEEDS_A_PART // 2
    assert trials.counts["instances"] > SEEDS_A_PART * 10
    assert trials.counts["valid instances"] > SEEDS_A_PART * 3


@pytest.mark.long
def test_texts_and_values_agree_for_many_seeds() -> None:
    first, last = os.environ.get("MASKWRIGHT_SCHEMA_SEEDS", "100000:104000").split(":")
    trials = Trials()
    said = 0
    for seed in range(int(first), int(last)):
        trials.run(seed)
        for failure in trials.failures[said:]:
            print(failure, flush=True)
        said = len(trials.failures)
        if seed % 500 == 499:
            print(f"after seed {seed}: {_table(trials.counts)}", flush=True)
    print(_table(trials.counts))
    assert not trials.failures, _shown(trials.failures)


def _shown(failures: list[str]) -> str:
    return "\n".join([f"{len(failures)} failures", *failures[:MAX_SHOWN]])


def _table(counts: Counter[str]) -> str:
    return ", ".join(f"{name}: {counts[name]}" for name in sorted(counts))
