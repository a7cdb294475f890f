"""Does a compiler give the right index, keep it, and say what is wrong, for every kind of format?"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from maskwright import Compiler, Limits, Vocabulary, allocate_bitmask, errors
from maskwright.errors import GrammarError, LimitError, MaskwrightError, VocabularyError
from maskwright.ir import Builder

DATA = Path(__file__).parents[2] / "data" / "engine"
REFUSED = json.loads((DATA / "refused.json").read_text())
CHOICES = json.loads((DATA / "choices.json").read_text())
VOCABULARY = Vocabulary.from_tokens(
    [*(bytes([byte]) for byte in range(256)), None, b"", b"ab"], eos_id=256, special={"<x>": 257}
)
EOS = 256


@pytest.fixture
def compiler() -> Compiler:
    return Compiler(VOCABULARY)


def accepts(constraint: Any, text: bytes) -> bool:
    """Whether the text is in the format; a fork reads it."""
    fork = constraint.fork()
    return fork.try_advance(list(text)) == len(text) and fork.allows(EOS)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case['method']} {case['code']}")
def test_what_is_wrong_is_said(case: dict[str, Any], compiler: Compiler) -> None:
    """The class, the code and the place are fixed, and a second attempt says the same."""
    argument = case["argument"]
    for _ in range(2):
        with pytest.raises(MaskwrightError) as caught:
            getattr(compiler, case["method"])(argument, **case.get("options", {}))
        assert type(caught.value) is getattr(errors, case["error"])
        assert caught.value.code == case["code"]
        assert case["where"] in (caught.value.where or "")
    assert compiler.stats()["formats"] == 0


@pytest.mark.parametrize("case", CHOICES, ids=lambda case: str(case["texts"])[:30])
def test_choices(case: dict[str, Any], compiler: Compiler) -> None:
    """`bytes` are written as {"hex": ..}; each text is accepted, and nothing near it that is none."""
    texts = [bytes.fromhex(text["hex"]) if isinstance(text, dict) else text for text in case["texts"]]
    words = {text if isinstance(text, bytes) else text.encode() for text in texts}
    constraint = compiler.choices(iter(texts)).constraint()
    near = {word[:-1] for word in words} | {word + b"x" for word in words} | {b"", b"x"}
    for word in words | near:
        assert accepts(constraint, word) == (word in words), word


def test_choices_are_told_apart(compiler: Compiler) -> None:
    """Words that join to the same text are other choices; the order and repetitions do not matter."""
    assert compiler.choices(["ab", "c"]) is not compiler.choices(["a", "bc"])
    assert compiler.choices(["a", "b"]) is compiler.choices([b"b", "a", "a"])


def test_a_hundred_thousand_words(compiler: Compiler) -> None:
    words = [f"word {number * 7919 % 1_000_003:x}" for number in range(100_000)]
    constraint = compiler.choices(words).constraint()
    assert all(accepts(constraint, word.encode()) for word in words[::997])
    assert not accepts(constraint, b"word zz")


def test_one_format_is_compiled_once(compiler: Compiler) -> None:
    """The same text is found without its front end, the same format through its content."""
    first = compiler.regex("[ab]c")
    assert compiler.regex("[ab]c") is first
    assert compiler.regex("[ba]c") is first
    assert compiler.regex("[ab]c", "ecma") is first
    assert compiler.regex(b"[ab]c", "python-bytes") is not compiler.regex("[ab]d")
    stats = compiler.stats()
    assert (stats["formats"], stats["misses"], stats["failures"]) == (3, 3, 0)
    assert stats["hits"] == 3


def test_what_differs_only_in_options_is_not_confused(compiler: Compiler) -> None:
    text = 'root ::= "a"\nother ::= "b"'
    assert compiler.grammar(text, "gbnf") is not compiler.grammar(text, "gbnf", start="other")
    assert accepts(compiler.grammar(text, "gbnf", start="other").constraint(), b"b")


def test_keys_tell_formats_vocabularies_and_limits_apart() -> None:
    other = Vocabulary.from_tokens([*VOCABULARY.tokens, b"abc"], eos_id=256)
    compilers = [Compiler(VOCABULARY), Compiler(other), Compiler(VOCABULARY, limits=Limits(states=1000))]
    keys = [compiler.regex(pattern).key for compiler in compilers for pattern in ("a", "b")]
    assert len(set(keys)) == len(keys)
    assert Compiler(VOCABULARY).regex("a").key == keys[0]


def test_the_cache_keeps_to_its_bytes() -> None:
    """Formats used last are kept; the newest is, however large; and growth by use counts too."""
    compiler = Compiler(VOCABULARY, cache_bytes=20_000)
    kept = compiler.regex("kept[0-9]*")
    for number in range(300):
        assert compiler.regex("kept[0-9]*") is kept
        compiler.regex(f"x{number}[a-f]*")
        assert compiler.stats()["bytes"] <= 20_000
    assert compiler.stats()["evicted"] > 200
    assert Compiler(VOCABULARY, cache_bytes=0).regex("a") is not None


def test_indexes_that_grow_are_counted_again() -> None:
    compiler = Compiler(VOCABULARY, cache_bytes=20_000)
    growing = [compiler.regex(f"{letter}(?:[a-z]|[0-9]{{3,9}})*") for letter in "abcdefgh"]
    for index in growing:
        constraint = index.constraint()
        for byte in b"?" + b"a123bc0456789" * 8:
            constraint.try_advance([byte if byte != 63 else ord(index.source[7])])
            constraint.mask()
    assert compiler.stats()["bytes"] > 20_000, "the test's indexes are too small"
    for _ in range(300):
        compiler.regex("h(?:[a-z]|[0-9]{3,9})*")
    assert compiler.stats()["bytes"] <= 20_000


def test_texts_do_not_stay_in_memory(compiler: Compiler) -> None:
    """What is remembered of a source is a digest: megabytes of spellings of one format cost nothing."""
    compiler.regex("a")
    tracemalloc.start()
    for number in range(50):
        compiler.regex("a" + f"(?#{number}{'x' * 20_000})")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert compiler.stats()["formats"] == 1
    assert held < 200_000, "a million characters went in"


def test_async_compiles_give_the_same_indexes(compiler: Compiler) -> None:
    async def both() -> list[Any]:
        return await asyncio.gather(
            compiler.regex_async("[a-z]+"),
            compiler.grammar_async('root ::= "a" root | "b"', "gbnf"),
            compiler.choices_async(["a", "b"]),
            compiler.json_schema_async({"type": "object"}, indent=2),
            compiler.regex_async("[a", "ecma"),
            return_exceptions=True,
        )

    regex, grammar, choices, schema, wrong = asyncio.run(both())
    assert regex is compiler.regex("[a-z]+")
    assert grammar is compiler.grammar('root ::= "a" root | "b"', "gbnf")
    assert choices is compiler.choices(["a", "b"])
    assert schema is compiler.json_schema({"type": "object"}, indent=2)
    assert isinstance(wrong, errors.PatternError)


def test_the_event_loop_goes_on_while_a_format_compiles(compiler: Compiler) -> None:
    async def run() -> int:
        compiling = asyncio.ensure_future(compiler.choices_async([f"{n:x}" for n in range(50_000)]))
        turns = 0
        while not compiling.done():
            turns += 1
            await asyncio.sleep(0)
        await compiling
        return turns

    assert asyncio.run(run()) > 3


def test_nothing_is_started_or_written_beforehand(tmp_path: Path) -> None:
    program = (
        "import threading, maskwright as mw\n"
        "compiler = mw.Compiler(mw.Vocabulary.default(), threads=2)\n"
        "compiler.regex('a').constraint().mask()\n"
        "print(threading.active_count(), len(__import__('os').listdir('/proc/self/task')))\n"
    )
    environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", "1"]
    assert not list(tmp_path.iterdir())


def test_many_threads_compile_one_format() -> None:
    compiler = Compiler(VOCABULARY)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(compiler.regex("(?:ab|[c-f])*"))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert len(set(map(id, found))) == 1
    assert compiler.stats()["formats"] == 1


def test_missing_bytes_are_named() -> None:
    small = Compiler(Vocabulary.from_tokens([b"a", b"b", None], eos_id=2))
    with pytest.raises(VocabularyError, match="'c' 'd'") as caught:
        small.regex("ab(c|d)")
    assert caught.value.where == "regex 'ab(c|d)'"
    # A way that the vocabulary cannot take is no fault where another is left.
    assert small.regex("ab(c|d)?").constraint().count_allowed([0, 1, 2]) == 3


def test_padding_and_empty_tokens_cannot_be_named() -> None:
    """A None between tokens, a named one and an EOS can; what pads the list, and b"", cannot."""
    vocabulary = Vocabulary.from_tokens(
        [b"a", None, b"", b"b", None, None, None], eos_id=4, special={"<x>": 5}, vocab_size=9
    )
    compiler = Compiler(vocabulary)
    for token_id in (1, 5):
        mask = compiler.grammar(f"root ::= <[{token_id}]>", "gbnf").constraint().mask()
        assert mask.nonzero()[0].tolist() == [token_id]
    for token_id in (2, 6, 8):
        with pytest.raises(GrammarError, match=f"token {token_id}"):
            compiler.grammar(f"root ::= <[{token_id}]>", "gbnf")


@pytest.mark.parametrize(
    ("limit", "format_"),
    [
        ("states", ("regex", "abc" * 60)),
        ("edges", ("regex", "[aceg]" * 60)),
        ("rules", ("grammar", "root ::= " + " ".join(f"r{n}" for n in range(60)))),
        ("dfa_states", ("regex", "(?=.*abc.*)(?=.*bcd.*).*")),
    ],
)
def test_limits_of_a_compile(limit: str, format_: tuple[str, str]) -> None:
    kind, text = format_
    if kind == "grammar":
        text += "".join(f'\nr{n} ::= "{n}" r{n} | "."' for n in range(60))
    compiler = Compiler(VOCABULARY, limits=Limits(**{limit: 20}))
    with pytest.raises(LimitError) as caught:
        compiler.regex(text) if kind == "regex" else compiler.grammar(text, "gbnf")
    assert (caught.value.limit, caught.value.value, caught.value.code) == (limit, 20, f"limit.{limit}")
    assert (caught.value.where or "").startswith(f"{kind} ")
    assert f"Limits({limit}=...)" in (caught.value.try_ or "")
    assert compiler.stats()["failures"] == 1


def test_limits_of_a_mask() -> None:
    tokens = [*VOCABULARY.tokens[:256], None, *(b"ab" * n for n in range(1, 200))]
    vocabulary = Vocabulary.from_tokens(tokens, eos_id=EOS)
    constraint = Compiler(vocabulary, limits=Limits(mask_work=20)).regex("(?:a|b|ab|ba)*").constraint()
    with pytest.raises(LimitError) as caught:
        constraint.mask()
    assert (caught.value.limit, caught.value.value) == ("mask_work", 20)
    constraint.advance(97)
    assert constraint.tokens == (97,)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("threads", 0), ("threads", True), ("cache_bytes", -1), ("cache_bytes", "1"), ("limits", {"states": 5})],
)
def test_arguments_out_of_range(argument: str, value: Any) -> None:
    with pytest.raises(MaskwrightError) as caught:
        Compiler(VOCABULARY, **{argument: value})
    assert caught.value.code == f"argument.{argument}"


@pytest.mark.parametrize("value", [0, -1, 1 << 63, True, 1.5, None])
def test_limits_are_positive_ints(value: Any) -> None:
    with pytest.raises(MaskwrightError):
        Limits(states=value)


def test_a_format_in_the_engines_own_terms(compiler: Compiler) -> None:
    b = Builder()
    grammar = b.grammar(b.rule("end", b.sequence([b.literal(b"a"), b.special(257)])))
    index = compiler.ir(grammar)
    assert index.constraint().count_allowed([97, 257, 256]) == 3
    assert compiler.ir(grammar) is index


def test_what_objects_look_like(compiler: Compiler) -> None:
    index = compiler.regex("a" * 100)
    assert repr(index).startswith("<Index of regex '" + "a" * 50 + "'...,")
    assert repr(compiler).startswith("<Compiler for 259 ids, 1 formats kept in ")
    assert repr(index.constraint()) == "<Constraint after 0 tokens, must go on>"


@pytest.mark.parametrize("token_id", [-1, 2**32 - 1, 2**40])
def test_no_token_id_is_refused_by_the_builder(token_id: int) -> None:
    with pytest.raises(MaskwrightError, match=f"not a token id: {token_id}"):
        Builder().special(token_id)


def test_a_fraction_is_no_row() -> None:
    compiler = Compiler(Vocabulary.from_tokens([b"a", None], eos_id=1))
    with pytest.raises(TypeError, match="integer"):
        compiler.fill_bitmasks([None], allocate_bitmask(1, 2), [0.9])  # type: ignore[list-item]
