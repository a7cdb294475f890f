"""Which indexes are kept, under what names, and which are given up when they grow?"""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from maskwright.format_cache import FormatCache


def index(n_bytes: int = 1) -> Any:
    """What the cache asks of an index: its size."""
    return SimpleNamespace(n_bytes=n_bytes)


@pytest.fixture
def cache() -> FormatCache:
    return FormatCache(max_bytes=100)


def test_formats_of_equal_content_are_one(cache: FormatCache) -> None:
    """Keys are compared by what they hold: another object with the same content finds the index."""
    kept = cache.add("text", (b"words" * 9, ("rule",), 0), index())
    assert cache.find_format("other text", (bytes(bytearray(b"words" * 9)), ("rule",), 0)) is kept
    assert cache.find("text") is kept
    assert cache.find("other text") is kept
    assert cache.find_format("a third", (b"words" * 9, ("rule",), 1)) is None
    assert cache.find("a third") is None


def test_of_two_threads_the_first_one_is_right(cache: FormatCache) -> None:
    first = cache.add("text", ("content",), index())
    assert cache.add("its spelling", ("content",), index()) is first
    assert cache.find("its spelling") is first


def test_what_was_used_last_is_kept_when_one_grows(cache: FormatCache) -> None:
    used, unused = (cache.add(name, (name,), index(30)) for name in ("used", "unused"))
    assert cache.find("used") is used
    assert unused is cache.find_format("unused again", ("unused",))
    assert cache.find("used") is used
    used.n_bytes = 60
    newest = cache.add("newest", ("newest",), index(30))
    assert cache.find("unused") is None
    assert (cache.find("used"), cache.find("newest")) == (used, newest)
    assert cache.evicted == 1


def test_of_a_format_that_was_given_up_nothing_is_held(cache: FormatCache) -> None:
    """A key is all of a format, which may be megabytes: no text that stood for it holds it any longer."""

    class Content:
        """A key that can be seen to go."""

    content = Content()
    gone = weakref.ref(content)
    cache.add("text", content, index(60))
    cache.find_format("its spelling", content)
    del content
    assert gone() is not None
    cache.add("newest", "newest", index(60))
    assert gone() is None
    assert (cache.find("text"), cache.find("its spelling")) == (None, None)
    assert cache.stats()["bytes"] == 60
