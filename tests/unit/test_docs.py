"""Are the documents true? Examples run, links resolve, commands exist, public names explain themselves."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.metadata
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import maskwright
import pytest
from maskwright.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def blocks(file: Path, language: str) -> list[tuple[int, str]]:
    """The fenced blocks of a language, each with the line it starts at."""
    text = file.read_text()
    return [(text[: m.start()].count("\n") + 1, m[3]) for m in FENCE.finditer(text) if m[2] == language]


def modules() -> list[str]:
    found = pkgutil.walk_packages(maskwright.__path__, "maskwright.")
    return sorted(["maskwright", *(m.name for m in found if not m.name.endswith("__main__"))])


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_examples_in_the_documents_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for line, block in blocks(file, "python"):
        case = doctest.DocTestParser().get_doctest(block, names, name_of(file), name_of(file), line)
        assert case.examples, f"{name_of(file)}:{line}: a python block without an example that could fail"
        runner.run(case, clear_globs=False)
        names = case.globs
    assert runner.failures == 0


@pytest.mark.parametrize("name", modules())
def test_examples_in_the_docstrings_run(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_shell_examples_print_what_they_show(
    file: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Blocks of language `console`: `$ maskwright ...`, then its whole output (standard error after it)."""
    monkeypatch.chdir(ROOT)
    for line, block in blocks(file, "console"):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            program, *arguments = shlex.split(command)
            assert program == "maskwright", f"{name_of(file)}:{line}: {command}"
            main(arguments)
            out, err = capfdbinary.readouterr()
            assert (out + err).decode() == expected, f"{name_of(file)}:{line}: {command}"


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_links_lead_to_files(file: Path) -> None:
    for target in LINK.findall(file.read_text()):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        goal = (file.parent / path).resolve() if path else file
        assert goal.exists(), f"{name_of(file)}: {target}"
        assert goal.is_relative_to(ROOT), f"{name_of(file)}: {target} leaves the repository"
        if anchor:
            assert anchor in headings(goal), f"{name_of(file)}: {target}"


def headings(file: Path) -> set[str]:
    """The anchors of a document, as the usual hosts make them."""
    titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_files_named_in_the_documents_exist(file: Path) -> None:
    """Anything in backticks that looks like a path of the repository is one."""
    for path in re.findall(
        r"`((?:python|rust|tests|scripts|docs|benchmarks|examples|\.ci)/[\w./-]*)`", file.read_text()
    ):
        assert (ROOT / path).exists(), f"{name_of(file)}: {path}"


def test_every_page_of_how_it_works_links_its_source() -> None:
    for page in sorted(ROOT.glob("docs/how-it-works/*.md")):
        targets = LINK.findall(page.read_text())
        assert any("python/maskwright/" in target or "rust/src/" in target for target in targets), name_of(
            page
        )


def test_readme_sets_up_with_two_commands() -> None:
    use, test = (block.strip() for _, block in blocks(ROOT / "README.md", "sh")[:2])
    assert "pip install ." in use
    assert re.search(r"\bmaskwright sample examples/[\w-]+\.json", use)
    for script in re.findall(r"\S*scripts/\w+", test):
        assert os.access(ROOT / script, os.X_OK), script
    assert "scripts/test" in test
    assert "\n" not in use + test


def test_ci_runs_the_test_command_of_readme() -> None:
    runner = (ROOT / ".ci/run").read_text()
    script = re.search(r"sed -n '(.*)' README.md", runner)
    assert script is not None
    shown = subprocess.run(
        ["sed", "-n", script[1], "README.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == blocks(ROOT / "README.md", "sh")[1][1].strip()


def test_scripts_are_correct_bash() -> None:
    for script in (".ci/run", "scripts/check", "scripts/test"):
        subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)
        assert os.access(ROOT / script, os.X_OK), script


@pytest.mark.parametrize("schema", sorted(ROOT.glob("examples/*.json")), ids=name_of)
def test_example_schemas_can_be_sampled(schema: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["sample", str(schema), "-n", "2"]) == 0
    documents = capfdbinary.readouterr().out.splitlines()
    assert len(documents) == 2
    assert all(isinstance(json.loads(document), dict) for document in documents)


def test_public_names_are_sorted_and_there() -> None:
    """Constants, then classes, then functions, each in order: as `ruff` sorts them."""
    order = sorted(maskwright.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    assert list(maskwright.__all__) == order
    shown = [name for name in dir(maskwright) if not name.startswith("__")]
    assert shown == sorted(maskwright.__all__)
    for name in maskwright.__all__:
        assert getattr(maskwright, name) is not None
    assert maskwright.__version__ == importlib.metadata.version("maskwright")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        maskwright.nothing  # noqa: B018


@pytest.mark.parametrize("name", [n for n in maskwright.__all__ if callable(getattr(maskwright, n))])
def test_public_names_have_a_docstring_and_an_example(name: str) -> None:
    """Errors say what their fields are; everything else is shown at work, there or in the documents."""
    value = getattr(maskwright, name)
    doc = value.__doc__ or ""
    is_error = isinstance(value, type) and issubclass(value, Exception)
    assert len(doc) > 20
    shown = (block for file in DOCUMENTS for _, block in blocks(file, "python"))
    assert is_error or ">>>" in doc or any(f"{name}(" in block for block in shown)


def test_import_is_light() -> None:
    """Importing the package loads no tokenizer library, no validator, not even NumPy: first use does."""
    script = "import sys, maskwright; print(*sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"numpy", "tokenizers", "tiktoken", "sentencepiece", "jsonschema", "lark", "torch", "argparse"}
    assert not heavy & set(shown.stdout.split())


@pytest.mark.parametrize("file", sorted((ROOT / "python").rglob("*.py")), ids=name_of)
def test_the_first_line_of_a_file_says_its_question(file: Path) -> None:
    doc = ast.get_docstring(ast.parse(file.read_text()))
    assert doc, f"{name_of(file)} has no docstring"


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "helpers", "common", "misc", "util"}
    assert not [m for m in modules() if m.rpartition(".")[2] in drawers]
