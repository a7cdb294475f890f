"""How does a regex become a grammar? `regex_to_ir` for a whole format, `lower_regex` for a part of one.

python_dialect.py   a Python pattern, `str` or bytes, to a tree
ecma_dialect.py     an ECMA-262 pattern, with the `u` flag or by Annex B, to a tree
syntax.py           the tree
classes.py          Unicode classes and case folding, one fixed version
lower.py            a tree without assertions to the IR
whole.py            a tree with anchors, word boundaries or lookaround to the IR
assertions.py       what each part of it asks of the text around it; with rests.py, loops.py, context.py
"""

from __future__ import annotations

from typing import Literal

from maskwright.errors import LimitError, MaskwrightError, PatternError
from maskwright.ir import Builder, Grammar, Node
from maskwright.regex.context import Refuse
from maskwright.regex.ecma_dialect import read_ecma
from maskwright.regex.lower import MAX_WORK, Spell, SpellText, Writer, check_nesting
from maskwright.regex.python_dialect import read_python, read_python_bytes
from maskwright.regex.ranges import EVERYTHING, Ranges, invert
from maskwright.regex.syntax import (
    ANY_TEXT,
    EMPTY,
    LAST_LINE_END,
    TEXT_END,
    TEXT_START,
    UNBOUNDED,
    Chars,
    Look,
    Repeat,
    Sequence,
    Tree,
    choice,
    sequence,
)
from maskwright.regex.whole import lower_with_assertions

MAX_CHARACTERS = 250_000
"""Characters of one pattern: 2 to 7 µs each, and two seconds are what a hostile pattern may take."""

Dialect = Literal["python", "python-bytes", "ecma"]

__all__ = ["Dialect", "lower_regex", "read_regex", "regex_to_ir"]


def regex_to_ir(
    pattern: str | bytes, dialect: Dialect = "python", *, search: bool = False, max_work: int = MAX_WORK
) -> Grammar:
    r"""The format of all texts that match `pattern` as a whole; with `search`, of all that contain a match.

    The texts of `"python"` and `"ecma"` are strings of characters in UTF-8, those of `"python-bytes"` any
    bytes. `max_work` bounds the steps taken for assertions (anchors, word boundaries, lookaround). Raises
    `PatternError` with the place for what is no pattern of the dialect or cannot be enforced, `LimitError`
    for what takes too much.

    >>> regex_to_ir(r"\d{4}-\d{2}", "ecma").names
    ('regex',)
    >>> regex_to_ir("(a)\\1")
    Traceback (most recent call last):
    ...
    maskwright.errors.PatternError: cannot enforce a back-reference
      at    offset 3
            (a)\1
               ^
      why   a text that repeats what a group matched is not a regular language
      try   spell the repeated part out, or list its values as alternatives
      code  pattern.unsupported.backreference
    """
    builder = Builder()
    node = lower_regex(builder, pattern, dialect, search=search, max_work=max_work)
    return builder.grammar(builder.rule("regex", node))


def lower_regex(
    builder: Builder,
    pattern: str | bytes,
    dialect: Dialect = "python",
    *,
    search: bool = False,
    alphabet: Ranges | None = None,
    spell: Spell | None = None,
    spell_text: SpellText | None = None,
    max_work: int = MAX_WORK,
) -> Node:
    """A node for the texts that match `pattern`, inside a larger grammar.

    `spell` gives the node of one character out of a set of code points (sorted inclusive ranges, never
    empty), and `spell_text` that of a run of given code points; by default both write UTF-8 (bytes for
    `"python-bytes"`). With a spelling of its own, such as the escapes of a JSON string, the result holds
    every spelling of every matching text. That is exact if no spelled text can be read as two different
    texts. `alphabet` is what a text may hold.
    """
    tree = read_regex(pattern, dialect)
    if dialect == "python-bytes":
        alphabet = alphabet or ((0, 0xFF),)
        if spell is None:
            spell, spell_text = _byte_spelling(builder)
    writer = Writer(builder, spell, spell_text, alphabet or EVERYTHING, max_work)
    whole = _without_outer_anchors(tree, search)
    check_nesting(whole)
    if not whole.kinds:
        writer.max_work = UNBOUNDED
        return writer.plain(whole)
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    return lower_with_assertions(whole, writer, _refusal(text))


def _without_outer_anchors(tree: Tree, search: bool) -> Tree:
    """The tree of the whole text: any text around a search, but where `^` stands first or `$` last.

    This is the straight path for most patterns; `assertions.py` would come to the same by a longer one.
    """
    left: list[Tree] = [ANY_TEXT] if search else []
    right: list[Tree] = [ANY_TEXT] if search else []
    if isinstance(tree, Sequence) and tree.kinds:
        parts = list(tree.parts)
        if parts[0] is TEXT_START:
            del parts[0]
            left = []
        last = parts[-1] if parts else None
        if last is TEXT_END:
            del parts[-1]
            right = []
        elif isinstance(last, Look) and last.body is LAST_LINE_END:
            del parts[-1]
            right = [LAST_LINE_END.parts[0]] if search else []
        tree = sequence(parts)
    if not (left or right):
        return tree
    parts = list(tree.parts) if isinstance(tree, Sequence) else [tree]
    if left and parts:
        left, parts[0] = _found(parts[0])
    return sequence([*left, *parts, *right])


def _found(first: Tree) -> tuple[list[Tree], Tree]:
    """Any text, and then the first part of what is searched for.

    A run of characters can begin at each place of a longer one: with `[a-z]{162}`, a text would be at 162
    counts at once. It is the same to begin where the text does, or after another character, and to go on.
    """
    if not (isinstance(first, Repeat) and isinstance(first.body, Chars) and first.low > 1):
        return [ANY_TEXT], first
    others = invert(first.body.ranges)
    before = [choice([EMPTY, sequence([ANY_TEXT, Chars(others)])])] if others else []
    return before, Repeat(first.body, first.low, None)


def read_regex(pattern: str | bytes, dialect: Dialect) -> Tree:
    """The tree of a pattern; `MaskwrightError` for arguments that do not go together, `LimitError` past
    `MAX_CHARACTERS`."""
    if isinstance(pattern, (str, bytes)) and len(pattern) > MAX_CHARACTERS:
        raise LimitError(
            f"the pattern has {len(pattern)} characters",
            limit="pattern_characters",
            value=MAX_CHARACTERS,
            try_="choices, for a long list of words; Lark's notation or GBNF, for what has parts",
        )
    if dialect == "python-bytes":
        if not isinstance(pattern, bytes):
            raise _misuse("pattern", "the dialect 'python-bytes' takes a bytes pattern")
        return read_python_bytes(pattern)
    if not isinstance(pattern, str):
        raise _misuse("pattern", f"the dialect {dialect!r} takes a str pattern")
    if dialect == "python":
        return read_python(pattern)
    if dialect == "ecma":
        return read_ecma(pattern)
    raise _misuse("dialect", f"unknown dialect {dialect!r}; there are 'python', 'python-bytes' and 'ecma'")


def _misuse(argument: str, what: str) -> MaskwrightError:
    return MaskwrightError(what, where=argument, code=f"argument.{argument}")


def _byte_spelling(builder: Builder) -> tuple[Spell, SpellText]:
    def spell(ranges: Ranges) -> Node:
        return builder.byte_class(byte for low, high in ranges for byte in range(low, high + 1))

    return spell, lambda codes: builder.literal(bytes(codes))


def _refusal(pattern: str) -> Refuse:
    """How the lowering reports a lookaround that it cannot express."""

    def refuse(look: Look, why: str) -> PatternError:
        return PatternError(
            f"cannot enforce this look{'ahead' if look.ahead else 'behind'}",
            pattern=pattern,
            offset=look.offset,
            why=why,
            try_="lookaround outside repetitions, at the beginning of an anchored pattern",
            code="pattern.unsupported.lookaround",
        )

    return refuse
