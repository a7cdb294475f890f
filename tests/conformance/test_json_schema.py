"""How much of public JSON Schema cases is exact? Ratchets: worse fails, better must be recorded.

The cases are not in the repository. Their places are in the environment:

    MASKWRIGHT_JSON_SCHEMA_SUITE   the folder of the official suite (with tests/ and remotes/)
    MASKWRIGHT_MASKBENCH           MaskBench, gzipped JSON lines
    MASKWRIGHT_RATCHET=write       record what is found

A ratchet file lists what is refused, by name and reason. What is wrong is never recorded: nothing may be.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import maskwright as mw
import pytest
from conformance import Tally, judge, maskbench_cases, suite_cases, suite_registry

HERE = Path(__file__).resolve().parent
SUITE = os.environ.get("MASKWRIGHT_JSON_SCHEMA_SUITE")
MASKBENCH = os.environ.get("MASKWRIGHT_MASKBENCH")
WRITE = os.environ.get("MASKWRIGHT_RATCHET") == "write"
DRAFTS = {"draft4": "4", "draft6": "6", "draft7": "7", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}
MASKBENCH_SAMPLE = 25


@pytest.fixture(scope="module")
def compiler() -> mw.Compiler:
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    return mw.Compiler(mw.Vocabulary.from_tokens(tokens, eos_id=256), cache_bytes=0)


@pytest.mark.skipif(not SUITE, reason="MASKWRIGHT_JSON_SCHEMA_SUITE is not set")
@pytest.mark.parametrize("draft", DRAFTS)
def test_official_suite(compiler: mw.Compiler, draft: str) -> None:
    folder = Path(str(SUITE))
    options = {
        "style": "accept",
        "formats": "annotate",
        "draft": DRAFTS[draft],
        "registry": suite_registry(folder),
    }
    _hold(f"suite-{draft}", compiler, suite_cases(folder, draft), options)


@pytest.mark.skipif(not MASKBENCH, reason="MASKWRIGHT_MASKBENCH is not set")
@pytest.mark.parametrize("order", ["any", "schema"])
def test_maskbench(compiler: mw.Compiler, order: str) -> None:
    cases = maskbench_cases(Path(str(MASKBENCH)), MASKBENCH_SAMPLE, order)
    _hold(f"maskbench-{order}", compiler, cases, {"property_order": order})


def _hold(name: str, compiler: mw.Compiler, cases: Any, options: dict[str, Any]) -> None:
    tally = Tally()
    for case in cases:
        judge(compiler, case, options, tally)
    assert not tally.wrong, "\n".join(tally.wrong)
    found = {
        "exact": tally.counts["exact"],
        "refused": {reason: sorted(names) for reason, names in sorted(tally.reasons.items())},
    }
    file = HERE / "ratchets" / f"{name}.json"
    if WRITE:
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    recorded = json.loads(file.read_text(encoding="utf-8"))
    assert found["exact"] >= recorded["exact"], f"{name}: {found} is worse than {recorded}"
    assert found == recorded, f"{name}: better than recorded, run with MASKWRIGHT_RATCHET=write: {found}"
