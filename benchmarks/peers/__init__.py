"""Which engines can be measured? Name to adapter; an engine's package is imported only when asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vocabulary import Vocabulary

    from peers.interface import Engine

ADAPTERS = {
    "maskwright": "peers.maskwright_engine",
    "llguidance": "peers.llguidance_engine",
    "xgrammar": "peers.xgrammar_engine",
}
OURS = "maskwright"


def import_engine(name: str) -> type[Engine]:
    """Import the adapter of that name, and its package. Raises ValueError for a name that is not known."""
    if name not in ADAPTERS:
        raise ValueError(f"no engine {name!r}; there are {', '.join(ADAPTERS)}")
    adapter: type[Engine] = importlib.import_module(ADAPTERS[name]).ENGINE
    return adapter


def load(name: str, vocabulary: Vocabulary) -> Engine:
    """Build the engine of that name over a vocabulary. Raises ValueError for a name that is not known."""
    return import_engine(name)(vocabulary)


def names(text: str) -> list[str]:
    """Read a comma-separated list of engines. Raises ValueError for an unknown one."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    for name in found:
        if name not in ADAPTERS:
            raise ValueError(f"no engine {name!r}; there are {', '.join(ADAPTERS)}")
    return found
