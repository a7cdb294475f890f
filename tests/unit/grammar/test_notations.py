"""Both notations, case by case, through the Earley oracle; Lark's own Earley parser has a say too."""

from typing import Any

import pytest
from grammar_cases import load, parse, symbols
from lark import Lark
from lark.exceptions import LarkError
from maskwright.errors import GrammarError, LimitError, MaskwrightError
from maskwright.grammar import gbnf_to_ir, lark_notation, lark_to_ir
from oracles.earley import Oracle

PAIRS = load("pairs.json")
ONE_SIDED = [("gbnf", case) for case in load("gbnf.json")] + [("lark", case) for case in load("lark.json")]
CASES = (
    [("gbnf", {**case, "grammar": case["gbnf"]}) for case in PAIRS]
    + [("lark", {**case, "grammar": case["lark"], "lark": True}) for case in PAIRS]
    + ONE_SIDED
)
IDS = [f"{syntax}: {case['name']}" for syntax, case in CASES]


@pytest.mark.parametrize(("syntax", "case"), CASES, ids=IDS)
def test_the_language_of_each_case(syntax: str, case: dict[str, Any]) -> None:
    oracle = Oracle(parse(syntax, case["grammar"], case.get("special", {})).grammar)
    for text in case["accept"]:
        read = symbols(text)
        assert oracle.accepts(read), text
        assert all(oracle.is_prefix(read[:size]) for size in range(len(read) + 1)), text
    for text in case["reject"]:
        assert not oracle.accepts(symbols(text)), text


@pytest.mark.parametrize(
    "case", [case for syntax, case in CASES if syntax == "lark"], ids=lambda c: c["name"]
)
def test_lark_itself_agrees(case: dict[str, Any]) -> None:
    """Its Earley parser with the lexer that tries every match: the nearest that Lark has to "not greedy"."""
    if "special" in case or case.get("lark") is False:
        pytest.skip("says what Lark has not, or differs on purpose (docs/grammars.md)")
    parser = Lark(case["grammar"], parser="earley", lexer="dynamic_complete")
    for texts, expected in ((case["accept"], True), (case["reject"], False)):
        for text in texts:
            assert _parses(parser, text) == expected, text


def _parses(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case["name"])
def test_both_notations_give_the_same_answers(case: dict[str, Any]) -> None:
    """On the cases' texts, all their beginnings, and each with a symbol changed."""
    special = case.get("special", {})
    first, second = (Oracle(parse(syntax, case[syntax], special).grammar) for syntax in ("gbnf", "lark"))
    for text in case["accept"] + case["reject"]:
        read = symbols(text)
        for size in range(len(read) + 1):
            for probe in (read[:size], [*read[:size], 0x61], [*read[:size], 0xC3]):
                assert first.is_prefix(probe) == second.is_prefix(probe), probe
                assert first.accepts(probe) == second.accepts(probe), probe


@pytest.mark.parametrize(
    "case", load("errors.json"), ids=lambda case: f"{case['syntax']}: {case['grammar']}"[:60]
)
def test_errors_name_the_place(case: dict[str, Any]) -> None:
    if case.get("accept"):
        parse(case["syntax"], case["grammar"], {})
        return
    with pytest.raises(GrammarError) as caught:
        parse(case["syntax"], case["grammar"], {})
    error = caught.value
    assert (error.line, error.column) == (case["line"], case["column"])
    assert case["says"] in error.what
    assert case.get("try", "") in (error.try_ or "")
    assert isinstance(error, ValueError)
    if case["code"] is not None:
        assert error.code == case["code"]


@pytest.mark.parametrize(
    ("syntax", "grammar", "notes"),
    [
        ("gbnf", 'root ::= "a"\nb ::= c\nc ::= c "x"', [("unproductive", "b", 2), ("unproductive", "c", 3)]),
        ("gbnf", 'root ::= "a" | b\nb ::= b b', [("unproductive", "b", 2)]),
        (
            "gbnf",
            'x ::= "b"\nroot ::= "a" y?\ny ::= y "c"',
            [("unreachable", "x", 1), ("unproductive", "y", 3)],
        ),
        ("lark", 'start: "a"\n\nb: "c"\n', [("unreachable", "b", 3)]),
        ("lark", 'start: "a" | b\nb: "c" b\n%ignore " "', [("unproductive", "b", 2)]),
    ],
)
def test_useless_rules_are_reported(syntax: str, grammar: str, notes: list[tuple[str, str, int]]) -> None:
    found = parse(syntax, grammar, {}).notes
    assert [(note.kind, note.rule, note.line) for note in found] == notes
    assert all(note.rule in str(note) and note.column == 1 for note in found)


def test_a_missing_lark_package_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(lark_notation, "import_module", missing)
    with pytest.raises(MaskwrightError, match="need the lark package") as caught:
        parse("lark", 'start: "a"', {})
    assert "maskwright[grammar]" in str(caught.value)


def test_another_root_rule() -> None:
    for grammar in (
        lark_to_ir('a: "x"\nb: "y"', start="b").grammar,
        gbnf_to_ir('a ::= "x"\nb ::= "y"', root="b").grammar,
    ):
        assert Oracle(grammar).accepts(b"y")
        assert not Oracle(grammar).accepts(b"x")


def test_limits_are_limit_errors() -> None:
    hostile = {
        "grammar_characters": "start: " + " " * 1_000_001,
        "grammar_marks": "start: " + "(" * 50_000 + '"a"' + ")" * 50_000,
        "grammar_nesting": "start: " + "(" * 101 + '"a"' + ")" * 101,
        "grammar_terminal_work": "start: T0\n"
        + "".join(f"T{n}: T{n + 1} T{n + 1}\n" for n in range(40))
        + 'T40: "a"',
        "grammar_templates": 'start: a{"x"}\na{p}: p a{b{p}} | p\nb{p}: p p',
    }
    for limit, text in hostile.items():
        with pytest.raises(LimitError) as caught:
            parse("lark", text, {})
        assert caught.value.limit == limit
    with pytest.raises(LimitError):
        parse("gbnf", " " * 2_000_001, {})


def test_size_and_depth_do_not_matter_in_gbnf() -> None:
    """A group 50,000 deep and a chain of 20,000 rules, in the order that is worst for a naive fixpoint."""
    deep = parse("gbnf", "root ::= " + '("a" ' * 50_000 + '"b"' + ")?" * 50_000, {})
    chain = "".join(f"r{n} ::= r{n + 1}\n" for n in range(20_000))
    assert deep.notes == parse("gbnf", f'root ::= r0\n{chain}r20000 ::= "a"', {}).notes == ()
    assert len(parse("gbnf", f'root ::= "a"\n{chain}r20000 ::= r0', {}).notes) == 20_001


@pytest.mark.parametrize(
    "text", ["start: /" + "\\\\" * 60, "start: " + '"\\' * 50_000, "start: /a/ /" + "\\/" * 50_000], ids=len
)
def test_open_quotes_are_found_in_linear_time(text: str) -> None:
    """Lark's own expressions would take exponential time on the first; a naive scan minutes on the others."""
    with pytest.raises(GrammarError, match="never closed"):
        parse("lark", text, {})
