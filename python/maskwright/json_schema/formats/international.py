"""Which strings are internationalised host names? RFC 5890 to 5892, as far as that is regular and small.

The set of characters is wider than that of RFC 5892: general categories, without its test for stability under
normalisation and case folding but for what is listed here.
"""

from __future__ import annotations

from maskwright.json_schema.formats.hosts import ASCII_LABEL
from maskwright.json_schema.formats.language import Either, Format, Joined, Many, Without

__all__ = ["FORMATS"]

_DOT = r"[.\u3002\uFF0E\uFF61]"
_LETTERS = r"\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}"
_CONTEXTUAL = r"\u00B7\u0375\u05F3\u05F4\u30FB\u200C\u200D"
_EXCEPTIONS = r"\u06FD\u06FE\u0F0B\u3007"

_VIRAMA = (
    r"\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u0E3A\u0EBA\u0F84\u1039\u103A"
    r"\u1714\u1715\u1734\u17D2\u1A60\u1B44\u1BAA\u1BAB\u1BF2\u1BF3\u2D7F\uA806\uA82C\uA8C4\uA953\uA9C0\uAAF6"
    r"\uABED\u{10A3F}\u{11046}\u{11070}\u{1107F}\u{110B9}\u{11133}\u{11134}\u{111C0}\u{11235}\u{112EA}\u{1134D}"
    r"\u{113CE}-\u{113D0}\u{11442}\u{114C2}\u{115BF}\u{1163F}\u{116B6}\u{1172B}\u{11839}\u{1193D}\u{1193E}"
    r"\u{119E0}\u{11A34}\u{11A47}\u{11A99}\u{11C3F}\u{11D44}\u{11D45}\u{11D97}\u{11F41}\u{11F42}"
)
_DISALLOWED = (
    r"\u0640\u07FA\u302E\u302F\u3031-\u3035\u303B\u00AA\u00BA\u017F\u02B0-\u02B8\u02E0-\u02E4\u037A\uFB00-\uFB4F"
    r"\uFE70-\uFEFC\uFF10-\uFF19\uFF41-\uFF5A\uFF66-\uFFDC\u{1D400}-\u{1D7FF}\u{1EE00}-\u{1EEFF}"
    r"\u{2F800}-\u{2FA1D}"
)


# What is wrong in a label. These rules look at one or two neighbours only: each that has to remember what the
# label holds elsewhere (scripts, directions, digits of two kinds) doubles the 1,000 states.
_BROKEN = (
    # RFC 5891, 4.2.3.1 and 4.2.3.2: hyphens, and marks at the beginning
    r"[\p{M}\-][^]*|[^]*-|[^][^]--[^]*",
    # RFC 5892, 2.6 and 2.2: exceptions, and what normalisation would change
    f"[^]*[{_DISALLOWED}][^]*",
    # RFC 5892, appendix A: joiners, middle dot, keraia, geresh and gershayim
    rf"(?:[^]*[^{_VIRAMA}])?\u200D[^]*|\u200C[^]*|[^]*\u200C",
    r"(?:[^]*[^l])?\u00B7[^]*|[^]*\u00B7(?:[^l][^]*)?",
    r"[^]*\u0375(?:\P{sc=Greek}[^]*)?",
    r"(?:[^]*\P{sc=Hebrew})?[\u05F3\u05F4][^]*",
)
_WIDE_LABEL = Without(rf"[{_LETTERS}{_CONTEXTUAL}{_EXCEPTIONS}\-]+", _BROKEN)
_LABEL = Either((ASCII_LABEL, _WIDE_LABEL))

FORMATS = (
    Format(
        "idn-hostname",
        "RFC 5890, 2.3.2.3, with RFC 5891, 4.2 and RFC 5892",
        Joined((_LABEL, Many(Joined((_DOT, _LABEL))))),
        limits="a label that begins with xn-- may be any, as its Punycode is not decoded; the length of a "
        "label's ASCII form is not known; of the characters that normalisation would change, the common ones "
        "are refused; not checked: zero width non-joiners inside a label, the katakana middle dot, digits of "
        "two kinds, and the Bidi rule of RFC 5893",
    ),
)
