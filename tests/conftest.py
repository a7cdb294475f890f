"""What do all tests share? This folder on the import path (`vocabularies`), and a compiler over bytes."""

from __future__ import annotations

import sys
from pathlib import Path

import maskwright as mw
import pytest

# The ratchets of `conformance` judge with the programs of `benchmarks`; last, so that these hide no module.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))


@pytest.fixture(scope="session")
def bytes_compiler() -> mw.Compiler:
    """Token i is the byte i, token 256 ends the text."""
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    return mw.Compiler(mw.Vocabulary.from_tokens(tokens, eos_id=256), cache_bytes=0)
