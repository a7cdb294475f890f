"""Which formats are measured? The JSON grammar in each engine's notation, word lists and patterns.

The JSON grammar has white space of any amount between its tokens and none around the root.
"""

from __future__ import annotations

from random import Random
from typing import Any

JSON_GBNF = r"""
root   ::= value
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member ws ("," ws member ws)*)? "}"
member ::= string ws ":" ws value
array  ::= "[" ws (value ws ("," ws value ws)*)? "]"
string ::= "\"" char* "\""
char   ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws     ::= [ \t\n\r]*
"""

_TERMINALS = r"""
STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
"""

JSON_LARK = (
    r"""
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" ws (member ws ("," ws member ws)*)? "}"
member: STRING ws ":" ws value
array: "[" ws (value ws ("," ws value ws)*)? "]"
ws: WS?
WS: /[ \t\n\r]+/
"""
    + _TERMINALS
)

# llguidance is quickest where its lexer skips the white space, so it gets that form; its language is the same
# but for white space after the root.
JSON_LLGUIDANCE = (
    r"""%llguidance {}
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" (member ("," member)*)? "}"
member: STRING ":" value
array: "[" (value ("," value)*)? "]"
%ignore /[ \t\n\r]+/
"""
    + _TERMINALS
)

# Which of them each engine is measured with: the form that serves it best. XGrammar takes 77 ms a step on the
# GBNF text above (12 µs at the median on its own grammar of JSON), so it gets its own.
JSON_FOR_ENGINE: dict[str, tuple[str, str]] = {
    "maskwright": ("gbnf", JSON_GBNF),
    "llguidance": ("lark", JSON_LLGUIDANCE),
    "xgrammar": ("builtin_json", ""),
}

# (what it is called, the pattern in full-match form, the same for XGrammar where its syntax lacks something)
PATTERNS: tuple[tuple[str, str, str], ...] = (
    (r"\d{4}-\d{2}", r"\d{4}-\d{2}", r"\d{4}-\d{2}"),
    (r"[a-f0-9]{24}", r"[a-f0-9]{24}", r"[a-f0-9]{24}"),
    (r"^[^\s]+$", r"[^\s]+", r"[^\s]+"),
    (r"(a|b)*c unanchored", r"(?s:.*)(a|b)*c(?s:.*)", r"[\s\S]*(a|b)*c[\s\S]*"),
)


def bounded_string(longest: int, tag: int) -> str:
    """A quoted string of at most `longest` characters; `tag` makes the pattern new to every cache."""
    return f'{tag}"[^"]{{0,{longest}}}"'


def word_list(count: int, seed: int) -> list[str]:
    """`count` different words of 4 to 14 letters."""
    random = Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(4, 14)))] = None
    return list(words)


def cold_patterns(count: int, seed: int) -> list[str]:
    """`count` different patterns whose first masks differ: as many cold masks for a batch."""
    random = Random(seed)
    return [_cold_pattern(random) for _ in range(count)]


def _cold_pattern(random: Random) -> str:
    """Words over a random half of the letters: a few thousand tokens pass, and no two masks are equal."""
    letters = "".join(
        sorted(random.sample("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 34))
    )
    return f"([{letters}]+[ ,.]?)*[{letters[: random.randint(3, 9)]}]{{2}}"


def json_ir() -> Any:
    """The JSON grammar as the intermediate record that the front ends write."""
    from maskwright.ir import Builder  # noqa: PLC0415 - our engine is not always the one measured

    b = Builder()

    def text(literal: bytes) -> int:
        return b.literal(literal)

    digit = b.byte_class(range(0x30, 0x3A))
    digits = b.repeat(digit, 1, None)
    ws = b.repeat(b.byte_class(b" \t\n\r"), 0, None)
    hexadecimal = b.byte_class(b"0123456789abcdefABCDEF")
    escape = b.choice([b.byte_class(b'"\\/bfnrt'), b.sequence([text(b"u"), b.repeat(hexadecimal, 4, 4)])])
    plain = b.chars([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)])
    char = b.choice([plain, b.sequence([text(b"\\"), escape])])
    string = b.rule("string", b.sequence([text(b'"'), b.repeat(char, 0, None), text(b'"')]))
    whole = b.choice([text(b"0"), b.sequence([b.byte_class(range(0x31, 0x3A)), b.repeat(digit, 0, None)])])
    exponent = b.sequence([b.byte_class(b"eE"), b.repeat(b.byte_class(b"+-"), 0, 1), digits])
    fraction = b.sequence([text(b"."), digits])
    number = b.sequence(
        [b.repeat(text(b"-"), 0, 1), whole, b.repeat(fraction, 0, 1), b.repeat(exponent, 0, 1)]
    )
    value = b.rule("value")
    member = b.sequence([b.reference(string), ws, text(b":"), ws, b.reference(value)])

    def listed(opening: bytes, item: int, closing: bytes) -> int:
        more = b.repeat(b.sequence([text(b","), ws, item, ws]), 0, None)
        return b.sequence([text(opening), ws, b.repeat(b.sequence([item, ws, more]), 0, 1), text(closing)])

    words = [text(word) for word in (b"true", b"false", b"null")]
    branches = [
        listed(b"{", member, b"}"),
        listed(b"[", b.reference(value), b"]"),
        b.reference(string),
        number,
    ]
    b.define(value, b.choice([*branches, *words]))
    return b.grammar(value)
