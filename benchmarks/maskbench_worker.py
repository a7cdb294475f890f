"""What does one engine make of one schema? A process that answers, task by task, until its pipe closes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import peers
from peers.interface import Bitmask, Engine, Matcher, Refused
from timing import quiet, samples
from vocabulary import llama3

_WARM_UP = (
    '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}'
)


@dataclass(slots=True)
class Answer:
    """One engine's verdict on one schema. `verdicts` holds, for each instance, whether it was accepted.

    `outcome` is "ok", "refused" or "error" here; the parent adds "crash" and "timeout". Times in nanoseconds;
    `grown` is by how many bytes the process's peak rose above what it held before.
    """

    outcome: str
    reason: str = ""
    first_mask: int = 0
    steps: Any = field(default_factory=samples)
    verdicts: list[bool] = field(default_factory=list)
    grown: int = 0


def serve(pipe: Connection, name: str, options: dict[str, Any]) -> None:
    """Load the engine, say that it is ready, then answer one task (schema text, token lists) at a time."""
    if name != peers.OURS:
        _silence()
    engine = peers.load(name, llama3())
    bitmask = engine.bitmask()
    answer(engine, bitmask, _WARM_UP, [], options)
    pipe.send("ready")
    while (task := _next(pipe)) is not None:
        schema, instances = task
        before = _reset_peak()
        found = answer(engine, bitmask, schema, instances, options)
        found.grown = max(0, _peak() - before)
        pipe.send(found)


def _silence() -> None:
    """Send what a peer prints nowhere: XGrammar warns on the error stream of each keyword that it relaxes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _next(pipe: Connection) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return None


def answer(
    engine: Engine, bitmask: Bitmask, schema: str, instances: list[Any], options: dict[str, Any]
) -> Answer:
    """Compile, then take each instance token by token under the masks, then EOS."""
    engine.fresh()  # what was compiled before is gone before the clock runs
    with quiet():
        try:
            taken, form, _ = engine.time_to_first_mask("json_schema", schema, bitmask, **options)
        except Refused as refusal:
            return Answer("refused", str(refusal))
        except Exception as error:  # whatever it is, it costs this schema alone
            return Answer("error", f"{type(error).__name__}: {error}")
        found = Answer("ok", first_mask=taken)
        try:
            for tokens in instances:
                found.verdicts.append(_take(engine, engine.matcher(form), bitmask, tokens, found.steps))
        except Exception as error:
            found.outcome, found.reason = "error", f"{type(error).__name__}: {error}"
        return found


def _take(engine: Engine, matcher: Matcher, bitmask: Bitmask, tokens: Any, out: Any) -> bool:
    """Whether the masks let the whole text through.

    A step is one bitmask and one advance; the look at the mask, between the two, is not timed.
    """
    clock = perf_counter_ns  # a local name: the loop is timed
    fill, advance, handle, allows, keep = (
        matcher.fill,
        matcher.advance,
        bitmask.handle,
        bitmask.allows,
        out.append,
    )
    for token in tokens:
        start = clock()
        fill(handle, 0)
        filled = clock() - start
        if not allows(token):
            return False
        start = clock()
        advance(token)
        keep(filled + clock() - start)
    fill(handle, 0)
    return allows(engine.vocabulary.eos_id)


def _reset_peak() -> int:
    """Start the peak of resident memory anew (Linux); returns what is resident now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _peak()


def _peak() -> int:
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return int(text.split("VmHWM:")[1].split()[0]) * 1024
