"""Do the examples in the reference's docstrings run, and is what it exports what it says?"""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import maskwright.reference
import maskwright.sampling
import pytest

MODULES = ["maskwright.sampling", "maskwright.reference"]
MODULES += [
    f"maskwright.reference.{module.name}" for module in pkgutil.iter_modules(maskwright.reference.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
    assert module.__doc__


@pytest.mark.parametrize("module", [maskwright.reference, maskwright.sampling])
def test_exports(module: object) -> None:
    names = list(module.__all__)  # type: ignore[attr-defined]
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert all(hasattr(module, name) for name in names)
