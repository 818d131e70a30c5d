from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical.cache import PostingCache


@dataclass(frozen=True)
class Item:
    nbytes: int


def test_what_was_used_last_stays():
    cache = PostingCache(10)
    for key in "abc":
        cache.put(key, Item(4))
        cache.get("a")
    assert [key for key in "abc" if cache.get(key)] == ["a", "c"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30))))
def test_it_never_holds_more_than_it_may_but_for_one(puts):
    cache = PostingCache(40)
    for key, size in puts:
        cache.put(key, Item(size))
        assert cache.size == sum(found.nbytes for key in range(10) if (found := cache.get(key)))
        assert cache.size <= 40
