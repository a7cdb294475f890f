"""How are bytes, sets of bytes and tables shown to a person?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_NAMED = {0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r"}


def quoted(data: bytes) -> str:
    r"""The bytes in double quotes: printable characters as they are, all else escaped.

    >>> print(quoted("né \n".encode() + b"\xff"))
    "né \n\xff"
    """
    return f'"{_escaped(data)}"'


def token_text(data: bytes) -> str:
    """The bytes bare where that is unambiguous in a list, else in quotes.

    >>> print(token_text(b"cat"), token_text(b" the"), token_text(b","))
    cat " the" ","
    """
    text = _escaped(data)
    bare = text and not any(c in ' ,"\\' for c in text)
    return text if bare else f'"{text}"'


def byte_set(members: Iterable[int]) -> list[str]:
    r"""The runs of a set of bytes in ascending order; three or more in a row make a range.

    >>> byte_set(b"tr"), byte_set(b"0123456789-"), byte_set([10, *range(128, 256)])
    (['r', 't'], ['-', '0-9'], ['\\n', '\\x80-\\xff'])
    """
    return [name for _, name in byte_runs(members)]


def byte_runs(members: Iterable[int]) -> list[tuple[int, str]]:
    """What `byte_set` gives, each with its first byte.

    >>> byte_runs(b"xabc")
    [(97, 'a-c'), (120, 'x')]
    """
    names: list[tuple[int, str]] = []
    for low, high in _runs(members):
        if high - low >= 2:
            names.append((low, f"{_byte(low, ' -,')}-{_byte(high, ' -,')}"))
        else:
            names.extend((b, _byte(b)) for b in range(low, high + 1))
    return names


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns aligned to the left, two spaces apart, the head first.

    >>> print(table(("State", "Ids"), [("0", "1, 2"), ("10", "none")]))
    State  Ids
    0      1, 2
    10     none
    """
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _runs(members: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for byte in sorted(members):
        if runs and runs[-1][1] == byte - 1:
            runs[-1] = (runs[-1][0], byte)
        else:
            runs.append((byte, byte))
    return runs


def _byte(byte: int, punctuation: str = " ,") -> str:
    """One byte's name. What would read as punctuation of the list around it stands in quotes."""
    if chr(byte) in punctuation:
        return f'"{_escaped(bytes([byte]))}"'
    return '"' if byte == ord('"') else _escaped(bytes([byte]))


def _escaped(data: bytes) -> str:
    return "".join(_character(c) for c in data.decode("utf-8", "surrogateescape"))


def _character(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8 here
        return f"\\x{code - 0xDC00:02x}"
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    return _NAMED.get(code) or "".join(f"\\x{b:02x}" for b in character.encode())
