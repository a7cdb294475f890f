"""Can the benchmarks be believed? Texts that repeat, percentiles that are right, adapters that wait."""

from __future__ import annotations

import gzip
import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import modules of the benchmarks, which are scripts and lie side by side, and forget them after."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def by_name(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield by_name
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(BENCHMARKS)):
            del sys.modules[name]


def _pieces(text: str) -> list[int]:
    """A stand-in for a tokenizer: four bytes a token."""
    blob = text.encode()
    return [int.from_bytes(blob[i : i + 4], "little") for i in range(0, len(blob), 4)]


def test_texts_repeat_and_keep_to_their_sizes(load: Any) -> None:
    texts = load("texts")
    first, again = texts.make_texts(_pieces, 40), texts.make_texts(_pieces, 40)
    assert first == again
    assert first != texts.make_texts(_pieces, 40, seed=1)
    sizes = [len(text.tokens) for text in first]
    assert min(sizes) >= texts.FEWEST
    assert max(sizes) <= texts.MOST
    assert max(sizes) > 5 * min(sizes)


def test_texts_are_json_of_many_kinds(load: Any) -> None:
    made = [text.text for text in load("texts").make_texts(_pieces, 60)]
    for text in made:
        json.loads(text)
    together = "\n".join(made)
    for sample in ("\n  ", '": "', '":"', "\\u", "\\n", "\\\\", '\\"', "e-", "true", "null", "[]", "ß"):
        assert sample in together, sample


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, (1, 1, 1, 1)), (10, (5, 9, 10, 10)), (100, (50, 90, 99, 100)), (1000, (500, 900, 990, 999))],
)
def test_percentiles_are_nearest_ranks(load: Any, count: int, expected: tuple[int, ...]) -> None:
    summary = load("timing").summarise(reversed(range(1, count + 1)))
    assert (summary.p50, summary.p90, summary.p99, summary.p999) == expected
    assert (summary.count, summary.max, summary.mean) == (count, count, (count + 1) / 2)


def test_a_step_is_timed_for_each_token(load: Any) -> None:
    timing = load("timing")
    calls: list[Any] = []
    out = timing.samples()
    timing.time_steps(lambda bitmask, row: calls.append(row), calls.append, None, [7, 8], out)
    assert calls == [0, 7, 0, 8]
    assert len(out) == 2
    assert min(out) >= 0


def test_no_engine_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, peers, maskbench\n"
        "sys.exit(' '.join({'llguidance', 'xgrammar', 'torch', 'maskwright'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == "\n", done.stderr


def test_an_unknown_engine_is_named(load: Any) -> None:
    with pytest.raises(ValueError, match="no engine 'guess'"):
        load("peers").names("maskwright,guess")


@pytest.mark.parametrize(
    ("instance", "ordered"),
    [
        ({"a": 1, "b": 2}, True),
        ({"b": 2, "a": 1}, False),
        ({"a": 1, "z": 0, "b": 2}, False),
        ({"b": 2, "c": 1, "z": 0}, True),
        ({"r": {"y": 1, "x": 1}}, True),
        ({"r": {"x": 1, "y": 1}}, False),
        ({"l": [{}, {"x": 1, "y": 1}]}, False),
    ],
)
def test_schema_order_is_read_through_references(load: Any, instance: Any, ordered: bool) -> None:
    schema = {
        "allOf": [
            {"properties": {"a": {}, "r": {"$ref": "#/$defs/pair"}, "l": {"items": {"$ref": "#/$defs/pair"}}}}
        ],
        "properties": {"b": {}},
        "required": ["c"],
        "$defs": {"pair": {"properties": {"y": {}, "x": {}}}},
    }
    assert load("property_order").in_schema_order(schema, instance) is ordered


def test_curves_have_a_line_for_each_engine_that_was_measured(load: Any) -> None:
    drawn = load("curves").tail_curves("a < b", {"one": [10, 200, 3000], "two": [5], "none": []})
    assert drawn.count("<polyline") == 2
    assert "a &lt; b" in drawn


class _Scripted:
    """Stands for a worker's pipe and process: dies on the first task, answers the second."""

    starts = 0

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def start(self, worker: Any) -> None:
        self.starts += 1
        worker._pipe, worker._process = self, self

    def send(self, task: Any) -> None:
        self.task = task

    def poll(self, seconds: float) -> bool:
        return bool(self.task[0] != "hangs")

    def recv(self) -> Any:
        if self.task[0] == "crashes":
            raise EOFError
        return self._answer

    exitcode = -11

    def join(self, seconds: float | None = None) -> None: ...

    def close(self) -> None: ...

    def kill(self) -> None: ...


def test_a_crash_and_a_time_out_cost_one_schema_each(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    maskbench, answer = load("maskbench"), load("maskbench_worker").Answer
    script = _Scripted(answer("ok", verdicts=[True, True]))

    def start(worker: Any) -> None:
        script.start(worker)

    monkeypatch.setattr(maskbench.Worker, "_start", start)
    worker, tally = maskbench.Worker("some", {}, 1.0), maskbench.Tally()
    for name in ("crashes", "hangs", "answers"):
        task = maskbench.Task(name, name, [[1], [2]], [True, False])
        tally.add(task, worker.ask(task))
    assert dict(tally.counts) == {"crash": 1, "timeout": 1, "false accept": 1}
    assert script.starts == 3


def test_the_data_is_read_sampled_and_ordered(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maskbench = load("maskbench")
    schema = {"properties": {"a": {}, "b": {}}}
    tests = [{"valid": True, "data": {"b": "é", "a": 1}}, {"valid": False, "data": {"b": 1, "a": 1}}]
    path = tmp_path / "data.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.write(json.dumps({"id": "one", "schema": schema, "tests": tests}) + "\n")

    class Fake:
        def encoding(self) -> Any:
            return self

        encode_ordinary = staticmethod(_pieces)

    monkeypatch.setattr(maskbench, "llama3", Fake)
    by_order = {
        order: list(maskbench._tasks(maskbench._parser().parse_args([str(path), "--order", order])))
        for order in ("any", "schema")
    }
    assert [task.expected for task in by_order["any"]] == [[True, False]]
    assert by_order["any"][0].instances[0] == _pieces('{"b": "é", "a": 1}')
    assert [task.expected for task in by_order["schema"]] == [[False]]
