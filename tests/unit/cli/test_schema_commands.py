"""Do `check` and `explain` say what becomes of a schema?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from maskwright.cli import main

SCHEMAS = json.loads((Path(__file__).parents[2] / "data" / "cli" / "schemas.json").read_text())


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in SCHEMAS])
def test_check_and_explain(case: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(case["schema"]))
    code = main([case["command"], str(file), *case.get("options", [])])
    out, err = capfd.readouterr()
    assert code == case["code"]
    for part in case["says"]:
        assert part in out + err
    for part in case.get("never", []):
        assert part not in out + err


def test_check_prints_an_object_for_a_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "string", "x": 1}')
    assert main(["check", str(file), "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["enforced"] is True
    assert [finding["status"] for finding in found["findings"]] == ["enforced", "unknown"]
