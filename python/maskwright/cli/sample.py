"""`maskwright sample`: draw documents of a format, each checked again before it is printed."""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maskwright.cli.bad_input import BadInput
from maskwright.cli.check import CHOICES, Check, choose_check
from maskwright.cli.engine_format import EngineFormat
from maskwright.cli.formats import Format, add_format_arguments, read_any_format
from maskwright.cli.model import Pull, RandomModel, TextPull
from maskwright.cli.numbers import at_least, temperature
from maskwright.cli.shown import byte_set, quoted
from maskwright.cli.vocabularies import add_vocabulary_arguments, read_vocabulary
from maskwright.compiler import Compiler
from maskwright.errors import InternalError, VocabularyError
from maskwright.progress import ProgressBar
from maskwright.reference import DEAD, Constraint, SamplingParams, TokenIndex, constrained_sample
from maskwright.vocabulary import Vocabulary


def add_to(commands: Any) -> None:
    """Declare this command."""
    parser = commands.add_parser(
        "sample",
        help="draw documents of a format",
        description="Draw documents of a format with logits from a small random model, and check each again.",
        epilog="Exit code 1: some documents were unfinished after --max-tokens; they are not printed.",
    )
    add_format_arguments(parser)
    add_vocabulary_arguments(parser)
    parser.add_argument("-n", type=at_least(1), default=1, metavar="N", help="how many documents (default 1)")
    parser.add_argument(
        "--seed", type=at_least(0), default=0, metavar="S", help="of model and sampler (default 0)"
    )
    parser.add_argument(
        "--max-tokens",
        type=at_least(1),
        default=512,
        metavar="M",
        help="most tokens of a document (default 512)",
    )
    parser.add_argument(
        "--temperature", type=temperature, default=1.0, metavar="T", help="0 is greedy (default 1)"
    )
    parser.add_argument(
        "--check",
        choices=CHOICES,
        help="how to check (default: jsonschema where that is sure, else dfa or the engine)",
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line: text, tokens, logprob, check"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Draw, check, print. 0 if every document was finished, else 1."""
    format_ = read_any_format(arguments, whitespace="spaced")  # a document is one line
    check = choose_check(format_, arguments.check)
    sampler = _sampler(format_, read_vocabulary(arguments), arguments.seed, arguments.temperature)
    unfinished = 0
    with ProgressBar(arguments.n, "documents") as bar:
        for number in range(arguments.n):
            document = sampler.draw(number, arguments.max_tokens, bar)
            bar.step()
            bar.clear()
            if document.finished:
                _require(check, document, number)
                _print(document, number, check, arguments.json)
            else:
                unfinished += 1
                where = f"after {arguments.max_tokens} tokens"
                what = f"document {number} is unfinished {where}: not printed (--max-tokens)"
                print(f"maskwright: {what}", file=sys.stderr)
    if sys.stderr.isatty():
        print(
            f"{arguments.n - unfinished} of {arguments.n} documents, checked with {check.name}",
            file=sys.stderr,
        )
    return 1 if unfinished else 0


@dataclass
class Document:
    """What was drawn: token ids (the end token too), the text, the log-probability, and whether it ended."""

    tokens: list[int] = field(default_factory=list)
    text: bytes = b""
    logprob: float = 0.0
    finished: bool = False


class _Drawing:
    """Draws documents over one vocabulary; document i of a seed is always the same."""

    def __init__(self, vocabulary: Vocabulary, seed: int, temperature: float) -> None:
        self._tokens = vocabulary.tokens
        self._eos_ids = sorted(vocabulary.eos_ids)
        if not self._eos_ids:
            raise BadInput("the vocabulary has no end token", why="no document could ever end")
        self._model = RandomModel(len(self._tokens), seed)
        self._seed = seed
        self._params = SamplingParams(temperature=temperature)

    def draw(self, number: int, max_tokens: int, bar: ProgressBar) -> Document:
        """Draw document `number`, of at most `max_tokens` tokens."""
        document = Document()
        self._model.reset()
        for token, logprob in self._steps(np.random.default_rng([self._seed, number]), document):
            self._model.step(token)
            document.tokens.append(token)
            document.text += self._tokens[token] or b""
            document.logprob += logprob
            bar.tick(f"token {len(document.tokens)}")
            if len(document.tokens) >= max_tokens:
                break
        return document

    def _steps(self, rng: np.random.Generator, document: Document) -> Iterator[tuple[int, float]]:
        raise NotImplementedError


class Sampler(_Drawing):
    """Draws documents of a format by its automaton."""

    def __init__(self, format_: Format, vocabulary: Vocabulary, seed: int, temperature: float) -> None:
        super().__init__(vocabulary, seed, temperature)
        self._dfa = format_.dfa
        self._index = TokenIndex(self._dfa, self._tokens, self._eos_ids)
        self._pull = Pull(self._dfa, self._tokens, self._eos_ids)

    def _steps(self, rng: np.random.Generator, document: Document) -> Iterator[tuple[int, float]]:
        constraint = Constraint(self._index)
        self._pull.reset()
        while not constraint.done:
            state = constraint.state
            if not constraint.mask().any():
                raise self._stranded(state, document.text)
            logits = self._model.logits() + self._pull.bonus(state)
            token, logprob = constrained_sample(logits, constraint, self._params, document.tokens, rng)
            self._pull.step(state, token)
            document.finished = constraint.done
            yield token, logprob

    def _stranded(self, state: int, text: bytes) -> VocabularyError:
        wanted = np.flatnonzero(self._dfa.trans[state] != DEAD).tolist()
        return VocabularyError(
            "no token of the vocabulary continues the text",
            where=f"after {quoted(text[-60:])}",
            why=f"the format goes on with {' or '.join(byte_set(wanted)[:8])}, and no token does",
        )


class EngineSampler(_Drawing):
    """Draws documents of a format by the engine."""

    def __init__(self, format_: EngineFormat, vocabulary: Vocabulary, seed: int, temperature: float) -> None:
        super().__init__(vocabulary, seed, temperature)
        self._index = format_.compile(Compiler(vocabulary))
        self._pull = TextPull(self._tokens, self._eos_ids, is_json=format_.is_schema)

    def _steps(self, rng: np.random.Generator, document: Document) -> Iterator[tuple[int, float]]:
        constraint = self._index.constraint()
        self._pull.reset()
        while not constraint.done:
            logits = self._model.logits() + self._pull.bonus(constraint.mask())
            token, logprob = constrained_sample(logits, constraint, self._params, document.tokens, rng)
            self._pull.step(token)
            document.finished = constraint.done
            yield token, logprob


def _sampler(
    format_: Format | EngineFormat, vocabulary: Vocabulary, seed: int, temperature: float
) -> Sampler | EngineSampler:
    if isinstance(format_, EngineFormat):
        return EngineSampler(format_, vocabulary, seed, temperature)
    return Sampler(format_, vocabulary, seed, temperature)


def _require(check: Check, document: Document, number: int) -> None:
    if not check.passes(document.text):
        what = f"document {number} failed its check with {check.name}"
        if not check.is_sure:
            why = "it reads patterns as Python does and rounds numbers, so one of the two is wrong"
            raise BadInput(what, where=quoted(document.text), why=why)
        raise InternalError(what, where=quoted(document.text), why="the masks let through what they must not")


def _print(document: Document, number: int, check: Check, as_json: bool) -> None:
    """One document a line: as it is on a pipe, escaped on a terminal if it would disturb that."""
    if as_json:
        print(json.dumps(_record(document, number, check), ensure_ascii=False), flush=True)
    elif sys.stdout.isatty() and not _is_plain(document.text):
        print(quoted(document.text), flush=True)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(document.text + b"\n")
        sys.stdout.buffer.flush()


def _record(document: Document, number: int, check: Check) -> dict[str, Any]:
    record: dict[str, Any] = {"index": number}
    try:
        record["text"] = document.text.decode()
    except UnicodeDecodeError:
        record["base64"] = base64.b64encode(document.text).decode()
    return record | {"tokens": document.tokens, "logprob": round(document.logprob, 6), "check": check.name}


def _is_plain(text: bytes) -> bool:
    try:
        return text.decode().isprintable()
    except UnicodeDecodeError:
        return False
