"""Which strings are addresses of the Internet's machines and mailboxes?"""

from __future__ import annotations

from maskwright.json_schema.formats.language import Both, Either, Format, Joined, Language, Many

__all__ = ["ASCII_LABEL", "FORMATS", "IPV4", "IPV6"]

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
ASCII_LABEL = f"{_LETTER}(?:[A-Za-z0-9\\-]{{0,61}}{_LETTER})?"
_HOST_NAME = rf"{ASCII_LABEL}(?:\.{ASCII_LABEL})*"

_COUNTED_LABEL = Both((f"{_LETTER}+(?:-+{_LETTER}+)*", "[A-Za-z0-9\\-]{1,63}"))
"""The same labels, with the count beside them: in `ASCII_LABEL` a letter may be the last one or not, and a
state that may be two places takes 1 to 3 ms a mask with 128,000 tokens."""

_ATOM = r"A-Za-z0-9!#$%&'*+\-/=?^_`{|}~"
_LITERAL = rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\]"
_BEYOND_ASCII = r"\u{80}-\u{10FFFF}"


def _mailbox(more: str, label: Language, counted: bool) -> Language:
    """A mailbox. `more`: characters beyond ASCII; `label`: a label of the domain.

    `counted`: the part before @ has at most 64 octets. The bound stands beside what it bounds: an
    intersection over the whole address takes a hundred times as long to compile.
    """
    words: Language = rf"[{_ATOM}{more}]+(?:\.[{_ATOM}{more}]+)*"
    quoted: Language = rf'"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'
    if counted:
        words = Both((words, f"[{_ATOM}.]{{1,64}}"))
        quoted = Both((quoted, "[ -~]{2,64}"))
    domain = Joined((label, Many(Joined((r"\.", label)))))
    return Joined((Either((words, quoted)), "@", Either((domain, _LITERAL))))


_WIDE_LETTER = f"[A-Za-z0-9{_BEYOND_ASCII}]"
_WIDE_LABEL = f"{_WIDE_LETTER}(?:[A-Za-z0-9\\-{_BEYOND_ASCII}]*{_WIDE_LETTER})?"

FORMATS = (
    Format("ipv4", "RFC 2673, 3.2", IPV4),
    Format("ipv6", "RFC 4291, 2.2", IPV6, limits="no zone after the address, as JSON Schema says"),
    Format(
        "hostname",
        "RFC 1123, 2.1, with RFC 1034, 3.1",
        _HOST_NAME,
        max_length=253,
        limits="a label that begins with xn-- may be any, as its Punycode is not decoded",
    ),
    Format(
        "email",
        "RFC 5321, 4.1.2 Mailbox and 4.5.3.1.1",
        _mailbox("", _COUNTED_LABEL, counted=True),
        limits="the length of the domain as a whole is not counted; there are no address literals but IPv4 "
        "and IPv6, as no other is registered",
    ),
    Format(
        "idn-email",
        "RFC 6531, 3.3",
        _mailbox(_BEYOND_ASCII, _WIDE_LABEL, counted=False),
        limits="lengths, which are in octets, are not counted; a label of the domain may hold any character "
        "beyond ASCII",
    ),
)
