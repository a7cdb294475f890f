r"""Which strings are dates, times and durations? RFC 3339, with the lengths of months and leap seconds.

A leap second is the last of a day in UTC. In local time it is where the offset puts it: 23:59:60Z is
15:59:60-08:00. That is a finite list, long because an automaton has to keep the time while it reads on to the
offset: 1,200 states instead of 60 with the offsets that are in use, multiples of 15 minutes.
"""

from __future__ import annotations

from maskwright.json_schema.formats.language import Format

__all__ = ["FORMATS"]

_DAYS_OF_MONTHS = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    r"|02-(?:0[1-9]|1\d|2[0-8]))"
)
_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = rf"(?:\d{{4}}-{_DAYS_OF_MONTHS}|{_LEAP_YEAR}-02-29)"

_HOUR = r"(?:[01]\d|2[0-3])"
_FRACTION = r"(?:\.\d+)?"
_OFFSET = rf"(?:[Zz]|[+\-]{_HOUR}:[0-5]\d)"
_TIME = rf"{_HOUR}:[0-5]\d:[0-5]\d{_FRACTION}{_OFFSET}"
_LEAP_SECOND_UTC = rf"23:59:60{_FRACTION}(?:[Zz]|[+\-]00:00)"


def _leap_seconds() -> str:
    """The last second of a leap day as local time, for every offset of a multiple of 15 minutes."""
    offsets: dict[int, list[str]] = {}
    for size in range(0, 24 * 60, 15):
        written = f"{size // 60:02}:{size % 60:02}"
        offsets.setdefault((23 * 60 + 59 + size) % (24 * 60), []).append(rf"\+{written}")
        offsets.setdefault((23 * 60 + 59 - size) % (24 * 60), []).append(f"-{written}")
    offsets[23 * 60 + 59].append("[Zz]")
    return "|".join(
        f"{time // 60:02}:{time % 60:02}:60{_FRACTION}(?:{'|'.join(ends)})" for time, ends in offsets.items()
    )


_ALL_TIMES = f"(?:{_TIME}|{_leap_seconds()})"
_MOST_TIMES = f"(?:{_TIME}|{_LEAP_SECOND_UTC})"

_DAY_TIME = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DAYS = r"(?:\d+D|\d+M(?:\d+D)?|\d+Y(?:\d+M(?:\d+D)?)?)"

_LEAP_LIMITS = (
    "a leap second is known by its time alone, and for offsets of whole quarters of an hour; "
    "in style generate for UTC alone"
)

FORMATS = (
    Format("date", "RFC 3339, 5.6 full-date and 5.7", _DATE),
    Format("time", "RFC 3339, 5.6 full-time and 5.7", _ALL_TIMES, written=_MOST_TIMES, limits=_LEAP_LIMITS),
    Format(
        "date-time",
        "RFC 3339, 5.6 date-time and 5.7",
        f"{_DATE}[Tt]{_ALL_TIMES}",
        written=f"{_DATE}[Tt]{_MOST_TIMES}",
        limits=f"{_LEAP_LIMITS}; date and time are told apart by T or t, not by a blank",
    ),
    Format("duration", "RFC 3339, appendix A", rf"P(?:{_DAYS}(?:{_DAY_TIME})?|{_DAY_TIME}|\d+W)"),
)
