"""Do the formats agree with what validators assert? Counts texts, a row for each format.

    python benchmarks/format_agreement.py [--suite DIR] [--maskbench FILE] [--show]

Texts come from the repository's own cases; from the official suite (a checkout of JSON-Schema-Test-Suite),
which says what is valid; and from the instances of a MaskBench file, where the `format` keyword meets them.
Each is judged by jsonschema-rs, and by jsonschema where that has a checker without further packages.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
from jsonschema.validators import validator_for
from maskwright.json_schema import formats

_CASES = Path(__file__).parent.parent / "tests" / "data" / "json_schema" / "formats.json"
Texts = dict[str, dict[str, bool | None]]


def main() -> None:
    """Collect, judge, print."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--suite", type=Path, help="a checkout of the official test suite")
    parser.add_argument("--maskbench", type=Path, help="a gzipped file of schemas with their instances")
    parser.add_argument("--show", action="store_true", help="print each text on which there is no agreement")
    options = parser.parse_args()
    texts: Texts = defaultdict(dict)
    for name, groups in json.loads(_CASES.read_text()).items():
        for wanted, group in ((True, "valid"), (False, "invalid")):
            texts[name].update(dict.fromkeys(groups[group], wanted))
    if options.suite:
        for name, text, wanted in _suite(options.suite):
            texts[name][text] = wanted
    if options.maskbench:
        for name, text in _instances(options.maskbench):
            texts[name].setdefault(text, None)
    _print(texts, options.show)


def _suite(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Format, text, is it valid: the newest draft last, so that it has the last word."""
    for draft in ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"):
        for path in sorted((folder / "tests" / draft / "optional" / "format").glob("*.json")):
            if not formats.known(path.stem):
                continue
            for group in json.loads(path.read_text()):
                for test in group["tests"]:
                    if isinstance(test["data"], str):
                        yield path.stem, test["data"], test["valid"]


class _Recorder(jsonschema.FormatChecker):
    """Finds nothing wrong, and writes down what it was asked."""

    def __init__(self) -> None:
        super().__init__(())
        self.asked: set[tuple[str, str]] = set()

    def check(self, instance: object, format: str) -> None:
        """Take note of a text with a known format."""
        if isinstance(instance, str) and formats.known(format):
            self.asked.add((format, instance))


def _instances(path: Path) -> Iterator[tuple[str, str]]:
    """Format and text for each string of an instance to which a known format applies."""
    recorder = _Recorder()
    with gzip.open(path, "rt") as lines:
        for line in lines:
            if not any(f'"{name}"' in line for name in formats.FORMATS):
                continue
            task = json.loads(line)
            try:
                kind = validator_for(task["schema"], default=jsonschema.Draft202012Validator)
                validator = kind(task["schema"], format_checker=recorder)
                for test in task["tests"]:
                    for _ in validator.iter_errors(test["data"]):
                        pass
            except Exception:  # a schema that jsonschema cannot take yields no texts
                continue
    yield from sorted(recorder.asked)


def _print(texts: Texts, show: bool) -> None:
    print("| format | texts | expected | as expected | jsonschema-rs agrees | jsonschema agrees |")
    print("|---|---|---|---|---|---|")
    shown: list[tuple[Any, ...]] = []
    checker = jsonschema.FormatChecker()
    for name in formats.FORMATS:
        ours = {text: formats.matches(name, text) for text in texts[name]}
        expected = {text: wanted for text, wanted in texts[name].items() if wanted is not None}
        right = sum(ours[text] == wanted for text, wanted in expected.items())
        rust = jsonschema_rs.validator_for({"format": name}, validate_formats=True)
        theirs = {text: rust.is_valid(text) for text in ours}
        cells = [f"{sum(theirs[text] == found for text, found in ours.items())}"]
        python: dict[str, bool] = {}
        if name in checker.checkers:
            python = {text: checker.conforms(text, name) for text in ours}
            cells.append(f"{sum(python[text] == found for text, found in ours.items())}")
        else:
            cells.append("no checker")
        print(f"| {name} | {len(ours)} | {len(expected)} | {right} | {' | '.join(cells)} |")
        for text, found in ours.items():
            verdicts = (expected.get(text), theirs[text], python.get(text))
            if any(verdict is not None and verdict != found for verdict in verdicts):
                shown.append((name, text, found, *verdicts))
    for name, text, found, *verdicts in shown if show else ():
        print(f"{name}: {text[:80]!r} here {found}; expected, jsonschema-rs, jsonschema: {verdicts}")


if __name__ == "__main__":
    main()
