"""Which strings are URIs and IRIs, references, templates and UUIDs?"""

from __future__ import annotations

from maskwright.json_schema.formats.hosts import IPV6
from maskwright.json_schema.formats.language import Format

__all__ = ["FORMATS"]

_PERCENT = "%[0-9A-Fa-f]{2}"
_SCHEME = r"[A-Za-z][A-Za-z0-9+\-.]*"
_UNRESERVED = r"A-Za-z0-9\-._~"
_SUB_DELIMITERS = "!$&'()*+,;="
_FUTURE = rf"[Vv][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB_DELIMITERS}:]+"

_UCS = (
    r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF"
    + "".join(rf"\u{{{plane:X}0000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 14))
    + r"\u{E1000}-\u{EFFFD}"
)
_PRIVATE = r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"


def _generic(more: str = "", private: str = "") -> tuple[str, str]:
    """The patterns of an absolute identifier and of a relative reference (RFC 3986, appendix A).

    `more` are the unreserved characters beyond ASCII, `private` those that a query may hold besides.
    """
    plain = f"{_UNRESERVED}{_SUB_DELIMITERS}{more}"

    def any_of(characters: str) -> str:
        return f"(?:[{characters}]|{_PERCENT})"

    segment = any_of(f"{plain}:@")
    first = any_of(f"{plain}@")
    host = rf"(?:\[(?:{IPV6}|{_FUTURE})\]|{any_of(plain)}*)"
    authority = rf"(?:{any_of(plain + ':')}*@)?{host}(?::\d*)?"
    slashes = rf"(?:/{segment}*)*"
    absolute = rf"/(?:{segment}+{slashes})?"
    rest = rf"(?:\?{any_of(plain + ':@/?' + private)}*)?(?:#{any_of(plain + ':@/?')}*)?"
    identifier = rf"{_SCHEME}:(?://{authority}{slashes}|{absolute}|{segment}+{slashes}|){rest}"
    relative = rf"(?://{authority}{slashes}|{absolute}|{first}+{slashes}|){rest}"
    return identifier, relative


_URI, _RELATIVE = _generic()
_IRI, _IRI_RELATIVE = _generic(_UCS, _PRIVATE)

_VARIABLE = rf"(?:[A-Za-z0-9_]|{_PERCENT})"
_NAME = rf"{_VARIABLE}(?:\.?{_VARIABLE})*(?:\*|:[1-9]\d{{0,3}})?"
_EXPRESSION = rf"\{{[+#./;?&=,!@|]?{_NAME}(?:,{_NAME})*\}}"
_LITERAL = rf"[!#$&'(-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]"

FORMATS = (
    Format("uuid", "RFC 9562, 4", "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
    Format("uri", "RFC 3986, 3 and appendix A", _URI),
    Format("uri-reference", "RFC 3986, 4.1 and appendix A", f"(?:{_URI}|{_RELATIVE})"),
    Format("iri", "RFC 3987, 2.2", _IRI),
    Format("iri-reference", "RFC 3987, 2.2", f"(?:{_IRI}|{_IRI_RELATIVE})"),
    Format("uri-template", "RFC 6570, 2", f"(?:{_LITERAL}|{_PERCENT}|{_EXPRESSION})*"),
)
