"""What does a step cost? Fill and advance along 200 JSON texts, engine by engine in turn; and one copy."""

from __future__ import annotations

from functools import partial

import numpy as np
from peers.interface import Bitmask, Engine, Format
from report import Row, span
from texts import Text
from timing import Summary, quiet, samples, summarise, time_calls, time_steps, timer_cost

from rows.run import Run, compare, count_row, note

_COPIES_A_TEXT = 50
_SLACK = 1_000  # nanoseconds over a copy that the median step may take


def measure(run: Run) -> list[Row]:
    """TBM, its tail, and the texts that an engine got wrong."""
    forms = run.json_formats()
    masks = {name: engine.bitmask() for name, engine in run.engines.items()}
    out = {name: samples() for name in run.engines}
    copies = samples()
    source, target = np.ones((2, run.vocabulary.words), dtype=np.int32)
    copy = partial(np.copyto, target, source)
    with quiet():
        for number, text in enumerate(run.texts):
            for name in run.rotated(number):
                matcher = run.engines[name].matcher(forms[name])
                time_steps(matcher.fill, matcher.advance, masks[name].handle, text.tokens, out[name])
            time_calls(copy, _COPIES_A_TEXT, copies)
    wrong = {
        name: sum(not _accepts(engine, forms[name], masks[name], text) for text in run.texts)
        for name, engine in run.engines.items()
    }
    run.data["tbm_ns"] = out
    return _rows({name: summarise(values) for name, values in out.items()}, summarise(copies), wrong)


def _accepts(engine: Engine, form: Format, bitmask: Bitmask, text: Text) -> bool:
    """Whether every mask along the text has the next token's bit, and the last has that of EOS."""
    matcher = engine.matcher(form)
    for token in text.tokens:
        matcher.fill(bitmask.handle, 0)
        if not bitmask.allows(token):
            return False
        matcher.advance(token)
    matcher.fill(bitmask.handle, 0)
    return bitmask.allows(engine.vocabulary.eos_id)


def _rows(tbm: dict[str, Summary], copy: Summary, wrong: dict[str, int]) -> list[Row]:
    def values(field: str) -> dict[str, float]:
        return {name: getattr(summary, field) for name, summary in tbm.items()}

    count = next(iter(tbm.values())).count
    return [
        note("timer, inside every sample", span(timer_cost())),
        note(
            "copy of one bitmask p50",
            f"{span(copy.p50)} (mean {span(copy.mean)}, p99 {span(copy.p99)})",
            copy.to_dict(),
        ),
        count_row(f"JSON texts refused or stranded ({count} steps)", wrong),
        compare("TBM p50", values("p50"), most=copy.p50 + _SLACK, share=1 / 4),
        compare("TBM mean", values("mean"), share=1 / 5),
        compare("TBM p90", values("p90")),
        compare("TBM p99", values("p99"), most=100_000, share=1 / 5),
        compare("TBM p99.9", values("p999"), share=1 / 5),
        compare("TBM max", values("max")),
    ]
