"""Puts the programs of `benchmarks` on the import path: the ratchets here judge with the same code."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
