"""Where in the pattern is the parser? The text, an offset, and errors that point at a place."""

from __future__ import annotations

from maskwright.errors import PatternError


class Source:
    """A pattern as text, one character a byte, and the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0

    def at_end(self) -> bool:
        """Whether every character was read."""
        return self.offset >= len(self.text)

    def peek(self) -> str:
        """The next character; the empty string at the end."""
        return self.text[self.offset : self.offset + 1]

    def skip(self, count: int) -> None:
        """Go on by `count` characters."""
        self.offset += count

    def starts_with(self, expected: str) -> bool:
        """Whether `expected` comes next."""
        return self.text.startswith(expected, self.offset)

    def take(self, expected: str) -> bool:
        """Go past `expected` if it comes next."""
        if not self.starts_with(expected):
            return False
        self.offset += len(expected)
        return True

    def take_while(self, alphabet: str, most: int) -> str:
        """Read up to `most` characters that are all in `alphabet`."""
        start = self.offset
        while self.offset < start + most and not self.at_end() and self.peek() in alphabet:
            self.offset += 1
        return self.text[start : self.offset]

    def error(
        self,
        what: str,
        offset: int,
        *,
        why: str | None = None,
        try_: str | None = None,
        code: str = "pattern.syntax",
    ) -> PatternError:
        """A `PatternError` that points at `offset`."""
        return PatternError(what, pattern=self.text, offset=offset, why=why, try_=try_, code=code)
