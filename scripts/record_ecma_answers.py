"""Where do the recorded answers in tests/data/regex/ecma_node.json come from? Node, asked by this program.

The patterns and texts are those of tests/data/regex/ecma_patterns.json, and random ones from a fixed seed.
Texts beyond the BMP are left out for patterns that are legal only without the flag u: there Node counts them
as two characters.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
DATA = TESTS / "data" / "regex"

sys.path.insert(0, str(TESTS))
from oracles.pattern_maker import PatternMaker, legacy_pattern, legacy_text  # noqa: E402


def main() -> None:
    written = json.loads((DATA / "ecma_patterns.json").read_text(encoding="utf-8"))
    cases = [
        *([pattern, written["texts"]] for pattern in written["patterns"]),
        *random_cases(random.Random(262), 250),
    ]
    reply = ask_node(cases)
    rows = []
    for (pattern, texts), (legal, answers) in zip(cases, reply["answers"], strict=True):
        accept, reject = [], []
        for text, answer in zip(texts, answers, strict=False):
            if legal == "u" or max(text + pattern, default="") < "\U00010000":
                (accept if answer else reject).append(text)
        rows.append({"pattern": pattern, "legal": legal, "accept": accept, "reject": reject})
    source = f"Node {reply['node']}, Unicode {reply['unicode']}, by scripts/record_ecma_answers.py"
    lines = ",\n".join(json.dumps(row) for row in rows)
    (DATA / "ecma_node.json").write_text(
        f'{{"source": {json.dumps(source)}, "cases": [\n{lines}\n]}}\n', encoding="ascii"
    )


def random_cases(rng: random.Random, count: int) -> list[Any]:
    """Patterns made for `u` with texts, and a soup of signs that is often legal without `u` only."""
    maker = PatternMaker(rng, "ecma", 0.15)
    made = [[maker.pattern(), [maker.text() for _ in range(12)]] for _ in range(count)]
    soup = [[legacy_pattern(rng), [legacy_text(rng) for _ in range(8)]] for _ in range(2 * count)]
    return [*made, *soup]


def ask_node(cases: list[Any]) -> Any:
    program = TESTS / "oracles" / "node_regex.js"
    done = subprocess.run(
        ["node", str(program)], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
