"""Which strings are addresses of the Internet's machines and mailboxes?"""

from __future__ import annotations

from maskwright.json_schema.formats.language import Format

__all__ = ["FORMATS", "IPV4", "IPV6"]

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"

_GROUP = "[0-9A-Fa-f]{1,4}"
_LAST = rf"(?:{_GROUP}:{_GROUP}|{IPV4})"
IPV6 = (
    f"(?:(?:{_GROUP}:){{6}}{_LAST}"
    f"|::(?:{_GROUP}:){{5}}{_LAST}"
    f"|(?:{_GROUP})?::(?:{_GROUP}:){{4}}{_LAST}"
    + "".join(
        f"|(?:(?:{_GROUP}:){{0,{before}}}{_GROUP})?::{after}"
        for before, after in (
            (1, f"(?:{_GROUP}:){{3}}{_LAST}"),
            (2, f"(?:{_GROUP}:){{2}}{_LAST}"),
            (3, f"{_GROUP}:{_LAST}"),
            (4, _LAST),
            (5, _GROUP),
            (6, ""),
        )
    )
    + ")"
)

_LETTER = "[A-Za-z0-9]"
_LABEL = f"{_LETTER}(?:[A-Za-z0-9\\-]{{0,61}}{_LETTER})?"
_HOST_NAME = rf"{_LABEL}(?:\.{_LABEL})*"

_ATOM = r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]"
_WORDS = rf"{_ATOM}+(?:\.{_ATOM}+)*"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_DOMAIN = f"{_LETTER}(?:[A-Za-z0-9\\-]*{_LETTER})?"
_MAIL_HOST = rf"(?:{_DOMAIN}(?:\.{_DOMAIN})*|\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\])"

_BEYOND_ASCII = r"\u{80}-\u{10FFFF}"
_WIDE_ATOM = _ATOM[:-1] + _BEYOND_ASCII + "]"
_WIDE_WORDS = rf"{_WIDE_ATOM}+(?:\.{_WIDE_ATOM}+)*"
_WIDE_QUOTED = rf'"(?:[ !#-\[\]-~{_BEYOND_ASCII}]|\\[ -~])*"'
_WIDE_LETTER = f"[A-Za-z0-9{_BEYOND_ASCII}]"
_WIDE_DOMAIN = f"{_WIDE_LETTER}(?:[A-Za-z0-9\\-{_BEYOND_ASCII}]*{_WIDE_LETTER})?"
_WIDE_MAIL_HOST = rf"(?:{_WIDE_DOMAIN}(?:\.{_WIDE_DOMAIN})*|\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\])"

_MAIL_LIMITS = "the 64 octets of the part before @ and the 255 of the domain (RFC 5321, 4.5.3.1) are not counted"

FORMATS = (
    Format("ipv4", "RFC 2673, 3.2", (IPV4,)),
    Format("ipv6", "RFC 4291, 2.2", (IPV6,), limits="no zone after the address, as JSON Schema says"),
    Format(
        "hostname",
        "RFC 1123, 2.1, with RFC 1034, 3.1",
        (_HOST_NAME,),
        max_length=253,
        limits="a label that begins with xn-- may be any, as its Punycode is not decoded",
    ),
    Format(
        "email",
        "RFC 5321, 4.1.2 Mailbox",
        (f"(?:{_WORDS}|{_QUOTED})@{_MAIL_HOST}",),
        limits=_MAIL_LIMITS,
    ),
    Format(
        "idn-email",
        "RFC 6531, 3.3",
        (f"(?:{_WIDE_WORDS}|{_WIDE_QUOTED})@{_WIDE_MAIL_HOST}",),
        limits=f"{_MAIL_LIMITS}; every character beyond ASCII may stand in a label of the domain",
    ),
)
