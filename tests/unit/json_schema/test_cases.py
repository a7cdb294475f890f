"""The specification of the JSON Schema front end by example: each case is a schema, options, texts and
verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import maskwright as mw
import pytest

DATA = Path(__file__).resolve().parents[2] / "data" / "json_schema" / "cases"


def _marked(stem: str, case: dict[str, Any]) -> Any:
    marks = [pytest.mark.xfail(strict=True, reason=case["fails"])] if "fails" in case else []
    return pytest.param(case, id=f"{stem}: {case['name']}", marks=marks)


CASES = [
    _marked(path.stem, case)
    for path in sorted(DATA.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
]


def accepts(index: mw.Index, text: str) -> bool:
    """Whether the whole text is in the format."""
    constraint = index.constraint()
    data = text.encode()
    return constraint.try_advance(list(data)) == len(data) and constraint.is_complete()


@pytest.mark.parametrize("case", CASES)
def test_case(bytes_compiler: mw.Compiler, case: dict[str, Any]) -> None:
    options = case.get("options", {})
    if "error" in case:
        with pytest.raises(mw.MaskwrightError) as caught:
            bytes_compiler.json_schema(case["schema"], **options)
        assert caught.value.code == case["error"], caught.value
        assert case.get("at") in (None, caught.value.where), caught.value
        assert case.get("says", "") in str(caught.value)
        return
    index = bytes_compiler.json_schema(case["schema"], **options)
    wrong = [text for text in case["accept"] if not accepts(index, text)]
    wrong += [text for text in case["reject"] if accepts(index, text)]
    assert not wrong
