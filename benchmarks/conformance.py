"""Is the JSON Schema front end right? Every case of the official suite, of reported cases and of MaskBench,
judged.

    python benchmarks/conformance.py --suite DIR [--draft draft2020-12] [--reported FILE] [--maskbench FILE
    --sample 50]

exact     compiled, and every text judged as it must be
refused   a typed error with a place and a reason
wrong     some text judged otherwise; each is printed
Texts are read byte by byte over a vocabulary of the 256 bytes, so this measures no speed.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import maskwright as mw
from property_order import in_schema_order

_DRAFTS = {"draft4": "4", "draft6": "6", "draft7": "7", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}


@dataclass(slots=True)
class Case:
    """A schema with texts: (text, whether it is valid); None where either answer will do."""

    name: str
    schema: Any
    texts: list[tuple[str, bool]]
    must_fail: bool = False


@dataclass(slots=True)
class Tally:
    """What became of the cases."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def refuse(self, name: str, reason: str) -> None:
        self.counts["refused"] += 1
        self.reasons.setdefault(reason, []).append(name)

    def blame(self, name: str, why: str) -> None:
        self.counts["wrong"] += 1
        self.wrong.append(f"{name}: {why}")


def judge(compiler: mw.Compiler, case: Case, options: dict[str, Any], tally: Tally) -> None:
    """Compile one case and read its texts."""
    begin = time.perf_counter()
    try:
        index = compiler.json_schema(case.schema, **options)
    except mw.MaskwrightError as error:
        _judge_error(case, error, tally)
        return
    except Exception as error:
        tally.blame(case.name, f"crash: {type(error).__name__}: {error}")
        return
    finally:
        tally.slowest = max(tally.slowest, (time.perf_counter() - begin, case.name))
    if case.must_fail:
        tally.blame(case.name, "compiled, and should not")
        return
    for text, valid in case.texts:
        try:
            accepted = accepts(index, text)
        except mw.MaskwrightError as error:
            tally.refuse(case.name, f"while reading: {error.code} {error.what}")
            return
        if accepted is not valid:
            word = "accepts" if accepted else "refuses"
            tally.blame(
                case.name, f"{word} {text[:200]}  schema {json.dumps(case.schema, default=str)[:300]}"
            )
            return
    tally.counts["exact"] += 1


def _judge_error(case: Case, error: mw.MaskwrightError, tally: Tally) -> None:
    if case.must_fail or (error.code == "schema.no-value" and not any(valid for _, valid in case.texts)):
        tally.counts["exact"] += 1
    elif error.code == "schema.no-value":
        tally.blame(case.name, f"no value: {error.where} {error.why}")
    else:
        tally.refuse(case.name, f"{error.code}: {(error.why or error.what).splitlines()[0][:110]}")


def accepts(index: mw.Index, text: str) -> bool:
    """Whether the whole text is in the format."""
    constraint = index.constraint()
    data = text.encode()
    return constraint.try_advance(list(data)) == len(data) and constraint.is_complete()


def suite_cases(folder: Path, draft: str) -> Iterator[Case]:
    """The required tests of one draft of the official suite."""
    for path in sorted((folder / "tests" / draft).glob("*.json")):
        for number, group in enumerate(json.loads(path.read_text())):
            texts = [(json.dumps(test["data"]), test["valid"]) for test in group["tests"]]
            yield Case(f"{path.stem}/{number} {group['description']}", group["schema"], texts)


def suite_registry(folder: Path) -> dict[str, Any]:
    """The documents that the suite's references lead to."""
    root = folder / "remotes"
    return {
        f"http://localhost:1234/{path.relative_to(root).as_posix()}": json.loads(path.read_text())
        for path in sorted(root.rglob("*.json"))
    }


def reported_cases(path: Path) -> Iterator[Case]:
    """Cases that users of other engines reported."""
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] != "json_schema":
            continue
        texts = [(text, True) for text in entry.get("accept", [])] + [
            (text, False) for text in entry["reject"]
        ]
        fails = bool(entry.get("error")) or entry.get("expect_compile") == "unsatisfiable"
        yield Case(entry["id"], entry["spec"], texts, fails)


def maskbench_cases(path: Path, sample: int, order: str) -> Iterator[Case]:
    """Every SAMPLEth schema of MaskBench, its instances as `json.dumps` writes them."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            name = entry["id"]
            if int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % sample:
                continue
            schema = entry["schema"]
            texts = [
                (json.dumps(test["data"], ensure_ascii=False), test["valid"])
                for test in entry["tests"]
                if order == "any" or not test["valid"] or in_schema_order(schema, test["data"])
            ]
            yield Case(name, schema, texts)


def main(arguments: list[str] | None = None) -> int:
    """Judge what is asked for; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--suite", type=Path, help="the folder of the official suite")
    parser.add_argument(
        "--draft", choices=sorted(_DRAFTS), action="append", help="of the suite; may be repeated"
    )
    parser.add_argument("--reported", type=Path, help="a file of reported cases, JSON lines")
    parser.add_argument("--maskbench", type=Path, help="MaskBench, gzipped JSON lines")
    parser.add_argument("--sample", type=int, default=50, help="every SAMPLEth schema of MaskBench")
    parser.add_argument("--order", choices=("any", "schema"), default="any", help="of members, for MaskBench")
    options = parser.parse_args(arguments)
    compiler = mw.Compiler(
        mw.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_id=256), cache_bytes=0
    )
    wrong = 0
    if options.suite:
        registry = suite_registry(options.suite)
        for draft in options.draft or ["draft2020-12", "draft7"]:
            how = {
                "style": "accept",
                "formats": "annotate",
                "draft": _DRAFTS[draft],
                "registry": registry,
            }
            wrong += run(draft, suite_cases(options.suite, draft), compiler, how)
    if options.reported:
        for style in ("generate", "accept"):
            wrong += run(f"reported, {style}", reported_cases(options.reported), compiler, {"style": style})
    if options.maskbench:
        how = {"property_order": "any"} if options.order == "any" else {}
        cases = maskbench_cases(options.maskbench, options.sample, options.order)
        wrong += run(f"maskbench, order {options.order}", cases, compiler, how)
    return 1 if wrong else 0


def run(title: str, cases: Iterator[Case], compiler: mw.Compiler, options: dict[str, Any]) -> int:
    """Judge some cases and print what became of them; returns how many are wrong."""
    tally = Tally()
    for case in cases:
        judge(compiler, case, options, tally)
    total = sum(tally.counts.values())
    counts = ", ".join(f"{tally.counts[kind]} {kind}" for kind in ("exact", "refused", "wrong"))
    print(f"\n{title}: {total} schemas, {counts}; slowest {tally.slowest[0]:.2f} s ({tally.slowest[1]})")
    for reason, names in sorted(tally.reasons.items(), key=lambda pair: -len(pair[1])):
        print(f"  {len(names):4} {reason}   such as {names[0]}")
    for line in tally.wrong:
        print(f"  wrong {line}")
    return tally.counts["wrong"]


if __name__ == "__main__":
    sys.exit(main())
