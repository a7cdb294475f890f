"""A schema is the same grammar in each process, whatever order its sets have there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from maskwright.errors import MaskwrightError
from maskwright.json_schema.compile import Options, SchemaCompile

CASES = Path(__file__).parents[2] / "data" / "json_schema" / "cases"


def grammar_keys() -> list[str]:
    """For each schema of the cases: its grammar's key, or its error."""
    found = []
    for path in sorted(CASES.glob("*.json")):
        for case in json.loads(path.read_text("utf-8")):
            options = {name: case.get("options", {}).get(name) for name in ("style", "draft")}
            given = {name: value for name, value in options.items() if value is not None}
            try:
                found.append(SchemaCompile(case["schema"], Options(**given)).grammar.key)
            except MaskwrightError as error:
                found.append(str(error))
    return found


def test_the_order_of_sets_makes_no_difference() -> None:
    seen = set()
    for seed in range(4):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)}
        run = subprocess.run(
            [sys.executable, __file__],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        seen.add(run.stdout)
    (only,) = seen
    assert len(json.loads(only)) > 100


if __name__ == "__main__":
    print(json.dumps(grammar_keys()))
