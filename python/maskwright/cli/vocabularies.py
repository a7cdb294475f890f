"""Which vocabulary do the arguments name? A tokenizer's file, tokens given one by one, or the shipped one."""

from __future__ import annotations

import argparse
import shlex
import sys

from maskwright.cli.bad_input import BadInput
from maskwright.vocabulary import Vocabulary

END = "<eos>"


def add_vocabulary_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare --tokenizer and --tokens, of which at most one may be given, and --eos."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--tokenizer",
        metavar="PATH",
        help="a tokenizer's file: tokenizer.json, a SentencePiece or tiktoken model, Tekken JSON "
        "(default: a small vocabulary that comes with the package)",
    )
    which.add_argument(
        "--tokens",
        metavar="WORDS",
        help=f'the tokens themselves, as words in shell quoting; {END} ends the text, "" is the empty token',
    )
    parser.add_argument(
        "--eos",
        metavar="TOKEN",
        action="append",
        help="id or name of a token that ends the text; may be repeated (default: what the file says)",
    )


def read_vocabulary(arguments: argparse.Namespace) -> Vocabulary:
    """The vocabulary that the arguments name; `MaskwrightError` where it cannot be read.

    Some kinds of file (tiktoken, tokenizer.json) do not say which token ends a text. Then one more id is
    added, past all others, and a note on standard error says so.
    """
    if arguments.tokens is not None:
        return _from_words(arguments.tokens, arguments.eos)
    if arguments.tokenizer is None:
        if arguments.eos:
            raise BadInput(
                "--eos: needs --tokenizer", why="the shipped vocabulary has an end token of its own"
            )
        return Vocabulary.default()
    ends = [int(end) if _is_id(end) else end for end in arguments.eos or ()]
    vocabulary = Vocabulary.from_file(arguments.tokenizer, eos_id=ends or None)
    return vocabulary if vocabulary.eos_ids else _with_an_end(vocabulary)


def _from_words(text: str, eos: list[str] | None) -> Vocabulary:
    if eos:
        raise BadInput(f"--eos: needs --tokenizer; among --tokens the end is {END}")
    try:
        words = shlex.split(text)
    except ValueError as error:  # a quote that does not close
        raise BadInput("--tokens: cannot be split into words", where=text, why=str(error)) from None
    ends = [i for i, word in enumerate(words) if word == END]
    tokens = [None if word == END else word.encode("utf-8", "surrogateescape") for word in words]
    return Vocabulary.from_tokens(tokens, eos_id=ends)


def _with_an_end(vocabulary: Vocabulary) -> Vocabulary:
    end = len(vocabulary)
    note = f"the tokenizer's file names no end token; id {end} stands for it (--eos names the real one)"
    print(f"maskwright: note: {note}", file=sys.stderr)
    return Vocabulary.from_tokens(
        vocabulary.tokens, eos_id=end, special=vocabulary.special, vocab_size=end + 1
    )


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10
