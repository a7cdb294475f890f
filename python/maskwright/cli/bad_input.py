"""What is wrong with input that is not the library's to judge?"""

from __future__ import annotations

from maskwright.errors import MaskwrightError


class BadInput(MaskwrightError):
    """An unreadable file, text that is not JSON, options that do not go together."""

    default_code = "input"
