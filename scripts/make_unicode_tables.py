"""How is python/maskwright/regex/unicode_tables.txt made? Run this with CPython 3.11 and Perl 5.36 at hand.

Both carry version 14.0.0 of the Unicode Character Database. Python's own notions (`str.isdecimal`,
`str.isspace`, `str.isalnum`, the case folding of `re`) come from CPython; General_Category, Script,
Script_Extensions and the binary properties that ECMA-262 names come from Perl's `Unicode::UCD`. The result is
text, one set a line:

    kind <tab> names, separated by "|" <tab> numbers in base 36, separated by blanks

The numbers are the distances between the bounds of the set's ranges, half open, starting from 0.
"""

from __future__ import annotations

import subprocess
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

VERSION = "14.0.0"
TARGET = Path(__file__).parents[1] / "python" / "maskwright" / "regex" / "unicode_tables.txt"

# The names of ECMA-262's table of binary Unicode properties; Any, Assigned and ASCII are made in code.
BINARY = """ASCII_Hex_Digit AHex, Alphabetic Alpha, Bidi_Control Bidi_C, Bidi_Mirrored Bidi_M, Case_Ignorable
CI, Cased, Changes_When_Casefolded CWCF, Changes_When_Casemapped CWCM, Changes_When_Lowercased CWL,
Changes_When_NFKC_Casefolded CWKCF, Changes_When_Titlecased CWT, Changes_When_Uppercased CWU, Dash,
Default_Ignorable_Code_Point DI, Deprecated Dep, Diacritic Dia, Emoji, Emoji_Component EComp, Emoji_Modifier
EMod, Emoji_Modifier_Base EBase, Emoji_Presentation EPres, Extended_Pictographic ExtPict, Extender Ext,
Grapheme_Base Gr_Base, Grapheme_Extend Gr_Ext, Hex_Digit Hex, IDS_Binary_Operator IDSB, IDS_Trinary_Operator
IDST, ID_Continue IDC, ID_Start IDS, Ideographic Ideo, Join_Control Join_C, Logical_Order_Exception LOE,
Lowercase Lower, Math, Noncharacter_Code_Point NChar, Pattern_Syntax Pat_Syn, Pattern_White_Space Pat_WS,
Quotation_Mark QMark, Radical, Regional_Indicator RI, Sentence_Terminal STerm, Soft_Dotted SD,
Terminal_Punctuation Term, Unified_Ideograph UIdeo,
Uppercase Upper, Variation_Selector VS, White_Space space, XID_Continue XIDC, XID_Start XIDS"""

# Perl capitalises three names of categories that ECMA-262 writes in lower case, and does not list one.
CATEGORY_NAMES = {"Punct": "punct", "Cntrl": "cntrl", "Digit": "digit"}

PERL = r"""
use Unicode::UCD qw(prop_invlist prop_value_aliases prop_values);
print Unicode::UCD::UnicodeVersion(), "\n";
for my $kind ("gc", "sc", "scx") {
    for my $value (prop_values($kind eq "scx" ? "sc" : $kind)) {
        my @names = grep { length } prop_value_aliases($kind eq "scx" ? "sc" : $kind, $value);
        print join("\t", $kind, join("|", @names), join(" ", prop_invlist("$kind=$value"))), "\n";
    }
}
for my $name (@ARGV) { print join("\t", "binary", $name, join(" ", prop_invlist($name))), "\n"; }
"""


def main() -> None:
    if unicodedata.unidata_version != VERSION:
        raise SystemExit(f"this Python has Unicode {unicodedata.unidata_version}, not {VERSION}")
    rows = [f"version\t{VERSION}\t", *python_rows(), *perl_rows()]
    TARGET.write_text("\n".join(rows) + "\n", encoding="ascii")


def python_rows() -> Iterable[str]:
    """The sets of Python's `re`, and its two tables of case: pairs of (distance, lower case distance)."""
    import _sre  # noqa: PLC0415 - only this script needs it
    from re import _casefix  # type: ignore[attr-defined] # noqa: PLC0415

    yield row("python", "digit", bounds(str.isdecimal))
    yield row("python", "space", bounds(str.isspace))
    yield row("python", "word", bounds(lambda c: c.isalnum() or c == "_"))
    yield row("python", "cased", bounds(lambda c: bool(_sre.unicode_iscased(ord(c)))))
    lower = [(code, _sre.unicode_tolower(code)) for code in range(0x110000)]
    pairs = [f"{base36(code)}:{base36(low)}" for code, low in lower if code != low]
    yield f"python\tlower\t{' '.join(pairs)}"
    extra = [
        f"{base36(code)}:{base36(other)}"
        for code, others in _casefix._EXTRA_CASES.items()
        for other in others
    ]
    yield f"python\textra\t{' '.join(extra)}"


def perl_rows() -> Iterable[str]:
    """General_Category, Script, Script_Extensions and the binary properties."""
    names = {words.split()[0]: "|".join(words.split()) for words in BINARY.replace("\n", " ").split(",")}
    output = subprocess.run(
        ["perl", "-e", PERL, *names], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    version, *lines = output.splitlines()
    if version != VERSION:
        raise SystemExit(f"this Perl has Unicode {version}, not {VERSION}")
    for line in lines:
        kind, aliases, numbers = line.split("\t")
        if kind == "gc":
            aliases = "|".join(CATEGORY_NAMES.get(name, name) for name in aliases.split("|"))
        yield row(kind, names.get(aliases, aliases), [int(number) for number in numbers.split()])


def bounds(holds: Callable[[str], bool]) -> list[int]:
    """Where membership changes, from 0 up: in at even places, out at odd ones."""
    found: list[int] = []
    for code in range(0x110000):
        if holds(chr(code)) != bool(len(found) % 2):
            found.append(code)
    return found


def row(kind: str, names: str, changes: list[int]) -> str:
    distances = [after - before for before, after in zip([0, *changes], changes, strict=False)]
    return f"{kind}\t{names}\t{' '.join(map(base36, distances))}"


def base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if not number:
            return digits


if __name__ == "__main__":
    main()
