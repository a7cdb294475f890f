"""Do the tests bite? Plants each defect of tests/data/mutants.toml into a copy of the package.

    python scripts/mutants.py           all of them
    python scripts/mutants.py s01 m03   only these

For each mutant every test that it names must fail, and all of them must pass without a mutant. Prints a
table; exits 1 if a mutant survives. The tree itself is never edited: the tests import the copy through
PYTHONPATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import maskwright

ROOT = Path(__file__).resolve().parent.parent
TEST_FILE = "tests/unit/test_constrain_spec.py"
PACKAGE = Path(maskwright.__file__).resolve().parent
# pytest's exit codes: only 1 says that a test ran and failed; 2 and up are broken runs.
PASSED, FAILED = 0, 1


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant: for each of its tests whether it failed, as it should."""

    id: str
    what: str
    caught_by: dict[str, str]

    @property
    def caught(self) -> bool:
        """Whether every named test failed."""
        return all(outcome == "failed" for outcome in self.caught_by.values())


def plant(edits: list[dict[str, str]], package: Path) -> None:
    """Make the replacements. Each text must be there once, so that no mutant silently does nothing."""
    for edit in edits:
        path = package / edit["file"]
        text = path.read_text()
        if text.count(edit["old"]) != 1:
            raise SystemExit(f"{edit['file']} has {text.count(edit['old'])} times: {edit['old']!r}")
        path.write_text(text.replace(edit["old"], edit["new"]))


def run_tests(tests: list[str], copy: Path) -> str:
    """Run tests against the copy: "passed", "failed", or "broken" if they could not run."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [f"{TEST_FILE}::{test}" for test in tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    check = "import maskwright; print(maskwright.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", check], env=environment, cwd=copy, capture_output=True, text=True, check=True
    )
    if not found.stdout.startswith(str(copy)):
        raise SystemExit(f"the tests would import {found.stdout.strip()}, not the copy")
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    return {PASSED: "passed", FAILED: "failed"}.get(run.returncode, "broken")


def outcomes(edits: list[dict[str, str]], groups: list[list[str]]) -> list[str]:
    """Plant edits into a fresh copy and run each group of tests on it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve()
        shutil.copytree(PACKAGE, copy / "maskwright", ignore=shutil.ignore_patterns("__pycache__"))
        plant(edits, copy / "maskwright")
        return [run_tests(group, copy) for group in groups]


def try_mutant(mutant: dict[str, Any]) -> Verdict:
    """Run each test of a mutant on its own."""
    tests = mutant["tests"]
    results = outcomes(mutant["edits"], [[test] for test in tests])
    return Verdict(mutant["id"], mutant["what"], dict(zip(tests, results, strict=True)))


def check_without_mutant(mutants: list[dict[str, Any]]) -> None:
    """Every named test must pass on an unchanged copy, else its failing says nothing."""
    tests = sorted({test for mutant in mutants for test in mutant["tests"]})
    (outcome,) = outcomes([], [tests])
    if outcome != "passed":
        raise SystemExit(f"without a mutant the tests are {outcome} already")


def print_table(verdicts: list[Verdict]) -> None:
    """One line a mutant and test."""
    for verdict in verdicts:
        for test, outcome in verdict.caught_by.items():
            shown = {"failed": "caught", "passed": "SURVIVED", "broken": "BROKEN"}[outcome]
            print(f"{verdict.id:<4} {shown:<8} {test:<54} {verdict.what}")


def main() -> int:
    """Try the mutants, two at a time."""
    mutants = tomllib.loads((ROOT / "tests" / "data" / "mutants.toml").read_text())["mutant"]
    wanted = set(sys.argv[1:])
    unknown = wanted - {mutant["id"] for mutant in mutants}
    if unknown:
        raise SystemExit(f"no mutant {', '.join(sorted(unknown))}")
    mutants = [mutant for mutant in mutants if not wanted or mutant["id"] in wanted]
    check_without_mutant(mutants)
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(try_mutant, mutants))
    print_table(verdicts)
    caught = sum(verdict.caught for verdict in verdicts)
    print(f"{caught} of {len(verdicts)} mutants caught")
    return 0 if caught == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
