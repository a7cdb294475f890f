"""A compiler over the 256 bytes: enough to read texts."""

from __future__ import annotations

import maskwright as mw
import pytest


@pytest.fixture(scope="session")
def bytes_compiler() -> mw.Compiler:
    """Token i is the byte i, token 256 ends the text."""
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    return mw.Compiler(mw.Vocabulary.from_tokens(tokens, eos_id=256), cache_bytes=0)
