"""Does the engine meet its bars? Every figure next to its bar, the peers in the same run.

python benchmarks/engine.py [--engines maskwright,llguidance,xgrammar] [--quick] [--only steps,starts]
"""

from __future__ import annotations

import argparse
import sys
import traceback

import peers
from curves import tail_curves
from report import Row, figures, heading, progress, rows_as_data, save
from rows import batches, memory, patterns, starts, steps
from rows.run import Run
from texts import COUNT, SEED, make_texts
from vocabulary import llama3

GROUPS = {
    "steps": steps.measure,
    "starts": starts.measure,
    "batches": batches.measure,
    "memory": memory.measure,
    "patterns": patterns.measure,
}
_QUICK_TEXTS = 30


def main(arguments: list[str] | None = None) -> int:
    """Run the groups asked for; 1 if a bar was missed, else 0."""
    options = _parser().parse_args(arguments)
    print(heading("engine"), flush=True)
    run = _prepare(options)
    print(
        f"seed {run.seed}, {len(run.texts)} texts, {sum(len(text.tokens) for text in run.texts)} tokens",
        flush=True,
    )
    rows: list[Row] = []
    for name in options.only:
        progress(f"measuring {name}")
        rows += _group(name, run)
    print(figures(rows))
    if not options.no_save:
        path = save(
            "engine",
            {"seed": run.seed, "quick": run.quick, "engines": _versions(run), "rows": rows_as_data(rows)},
        )
        if "tbm_ns" in run.data:
            path.with_suffix(".svg").write_text(tail_curves("TBM, JSON grammar", run.data["tbm_ns"]))
        print(f"written: benchmarks/results/{path.name}")
    return int(any(row.passed is False for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--engines", type=peers.names, default=list(peers.ADAPTERS), help="which, by commas")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=list(GROUPS), help="which groups"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer texts and repetitions")
    parser.add_argument("--no-save", action="store_true", help="write no file of results")
    return parser


def _prepare(options: argparse.Namespace) -> Run:
    vocabulary = llama3()
    count = _QUICK_TEXTS if options.quick else COUNT
    texts = make_texts(vocabulary.encoding().encode_ordinary, count, options.seed)
    engines = {}
    for name in options.engines:
        progress(f"loading {name}")
        engines[name] = peers.load(name, vocabulary)
    return Run(vocabulary, engines, texts, options.seed, options.quick)


def _group(name: str, run: Run) -> list[Row]:
    """One group's rows; a group that fails is a row too, and the others go on."""
    try:
        return GROUPS[name](run)
    except Exception as error:
        traceback.print_exc()
        return [Row(name, f"{type(error).__name__}: {str(error).splitlines()[:1]}", "", False)]


def _versions(run: Run) -> dict[str, str]:
    return {name: engine.version for name, engine in run.engines.items()}


if __name__ == "__main__":
    sys.exit(main())
