"""How does the text of a grammar become the IR? Two notations, GBNF and Lark, and what they report.

gbnf.py            llama.cpp's GBNF: a hand-written parser, made for the compile path of a request
gbnf_text.py       its escapes, strings and character classes
lark_notation.py   Lark syntax, read with the loader of the `lark` package
lark_source.py     the text before that loader sees it: special tokens, places, what is refused
lark_terminal.py   terminals of Lark: strings, ranges and regular expressions
special_tokens.py  `<|name|>` and `<[123]>`
usefulness.py      rules that nothing reaches, rules that no text can finish
"""

from maskwright.grammar.gbnf import gbnf_to_ir
from maskwright.grammar.lark_notation import lark_to_ir
from maskwright.grammar.usefulness import Note, ParsedGrammar

__all__ = ["Note", "ParsedGrammar", "gbnf_to_ir", "lark_to_ir"]
