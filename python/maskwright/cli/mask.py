"""`maskwright mask`: which tokens may come next after a text, and may it end there?"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from maskwright.cli.bad_input import BadInput, left_at
from maskwright.cli.engine_format import EngineFormat
from maskwright.cli.formats import add_format_arguments, read_any_format, read_format
from maskwright.cli.shown import byte_set, quoted, table, token_text
from maskwright.cli.vocabularies import add_vocabulary_arguments, read_vocabulary
from maskwright.progress import ProgressBar
from maskwright.reference import DEAD, DFA, TokenIndex
from maskwright.vocabulary import Vocabulary

_SAMPLE = 20  # tokens listed without --all: a few lines of a terminal
_END_NAME = "EOS"


def add_to(commands: Any) -> None:
    """Declare this command."""
    parser = commands.add_parser(
        "mask",
        help="show which tokens may come next",
        description="Show which tokens may come next after a text, and whether it may end there.",
    )
    add_format_arguments(parser)
    add_vocabulary_arguments(parser)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--text", metavar="PREFIX", default="", help="the text so far (default: empty)")
    where.add_argument(
        "--states", metavar="LIST", help="a table of these automaton states instead: 0,3,5 or all"
    )
    parser.add_argument("--all", action="store_true", help=f"list every token, not a sample of {_SAMPLE}")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object (a line for each state), with all ids"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the mask after the text, or the masks of some states."""
    if arguments.states is not None:
        dfa = read_format(arguments).dfa
        states = _listed_states(arguments.states, dfa)
        _print_states(MaskReader(dfa, read_vocabulary(arguments)), states, arguments)
        return 0
    format_, text = read_any_format(arguments), os.fsencode(arguments.text)
    if isinstance(format_, EngineFormat):
        _print_by_the_engine(format_, text, read_vocabulary(arguments), arguments)
        return 0
    state = walk(format_.dfa, text)
    reader = MaskReader(format_.dfa, read_vocabulary(arguments))
    _print_one(reader, reader.record(state), text, arguments)
    return 0


def _print_by_the_engine(
    format_: EngineFormat, text: bytes, vocabulary: Vocabulary, arguments: argparse.Namespace
) -> None:
    """The mask after the text, of a format that has no states to show."""
    constraint = format_.after(text, vocabulary)
    ids = np.flatnonzero(constraint.mask()).tolist()
    record = {"may_end": constraint.is_complete(), "count": len(ids), "of": len(vocabulary), "allowed": ids}
    _print_one(TokenNames(vocabulary), record, text, arguments)


def walk(dfa: DFA, text: bytes) -> int:
    """The state after the text; `BadInput` with the place where the text leaves the format."""
    state = 0
    for offset, byte in enumerate(text):
        after = int(dfa.trans[state, byte])
        if after == DEAD:
            expected = [*_next_bytes(dfa, state), *["the end"] * bool(dfa.accept[state])]
            raise left_at(text, offset, expected)
        state = after
    return state


class TokenNames:
    """The tokens of a vocabulary as text for a person."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.tokens = vocabulary.tokens
        self.eos_ids = vocabulary.eos_ids

    def name(self, token: int) -> str:
        """How the token is shown: its text, or that it ends the text."""
        return _END_NAME if token in self.eos_ids else token_text(self.tokens[token] or b"")

    def sample(self, ids: Sequence[int], size: int) -> list[int]:
        """At most `size` of the ids, spread evenly over those that a person can read; end tokens always."""
        if len(ids) <= size:
            return list(ids)
        ends = [token for token in ids if token in self.eos_ids][:size]
        texts = [token for token in ids if token not in self.eos_ids]
        readable = [token for token in texts if _is_readable(self.tokens[token] or b"")] or texts
        places = np.linspace(0, len(readable) - 1, min(size - len(ends), len(readable))).astype(int)
        return sorted([*ends, *(readable[place] for place in places)])


class MaskReader(TokenNames):
    """The masks of one automaton over one vocabulary, as ids and as text for a person."""

    def __init__(self, dfa: DFA, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self.dfa = dfa
        self._index = TokenIndex(dfa, self.tokens, sorted(self.eos_ids))

    def allowed(self, state: int) -> list[int]:
        """The ids of the tokens allowed in this state, ascending."""
        ids: list[int] = np.flatnonzero(self._index.mask(state)).tolist()
        return ids

    def why(self, state: int, ids: Sequence[int]) -> str:
        """Where each of the tokens leads, tokens with one target together."""
        by_target: dict[int, list[str]] = {}
        for token in ids:
            if token not in self.eos_ids:
                by_target.setdefault(self._index.next_state(state, token), []).append(self.name(token))
        reasons = [f"{', '.join(names)} to {target}" for target, names in by_target.items()]
        return "; ".join([*reasons, *["accepting, so it may end"] * bool(self.dfa.accept[state])])

    def record(self, state: int) -> dict[str, Any]:
        """The mask of a state for a program."""
        ids = self.allowed(state)
        may_end = bool(self.dfa.accept[state])
        return {"state": state, "may_end": may_end, "count": len(ids), "of": len(self.tokens), "allowed": ids}


def _print_one(names: TokenNames, record: dict[str, Any], text: bytes, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(json.dumps({"text": text.decode(errors="backslashreplace")} | record))
        return
    ids = record["allowed"]
    state = f" (state {record['state']})" if "state" in record else ""
    print(f"after    {quoted(text)}{state}")
    print(f"may end  {'yes' if record['may_end'] else 'no'}")
    print(f"allowed  {len(ids)} of {record['of']} tokens")
    shown = ids if arguments.all else names.sample(ids, _SAMPLE)
    for token in shown:
        print(f"  {token:>6}  {names.name(token)}")
    if len(shown) < len(ids):
        print(f"  ({len(ids) - len(shown)} more; --all lists them)")


def _print_states(reader: MaskReader, states: Sequence[int], arguments: argparse.Namespace) -> None:
    rows = []
    with ProgressBar(len(states), "states") as bar:
        for state in states:
            if arguments.json:
                bar.clear()
                print(json.dumps(reader.record(state)))
            else:
                rows.append(_row(reader, state, arguments.all))
            bar.step()
    if not arguments.json:
        print(table(("State", "Allowed ids", "Why"), rows))


def _row(reader: MaskReader, state: int, everything: bool) -> tuple[str, str, str]:
    ids = reader.allowed(state)
    shown = ids if everything else reader.sample(ids, _SAMPLE)
    names = [f"{token} {reader.name(token)}" for token in shown]
    if len(shown) < len(ids):
        names.append(f"({len(ids) - len(shown)} more)")
    return str(state), ", ".join(names), reader.why(state, shown)


def _listed_states(text: str, dfa: DFA) -> list[int]:
    if text == "all":
        return list(range(dfa.n_states))
    states = []
    for word in text.split(","):
        if not (word.isascii() and word.isdecimal() and len(word) < 10 and int(word) < dfa.n_states):
            last = dfa.n_states - 1
            raise BadInput(
                f"--states: no state {word!r}", where=text, why=f"the states are 0 to {last}; or say all"
            )
        states.append(int(word))
    return states


def _next_bytes(dfa: DFA, state: int) -> list[str]:
    return byte_set(np.flatnonzero(dfa.trans[state] != DEAD).tolist())


def _is_readable(token: bytes) -> bool:
    try:
        return token.decode().isprintable()
    except UnicodeDecodeError:
        return False
