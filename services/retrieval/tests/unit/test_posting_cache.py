from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical.cache import PostingCache


@dataclass(frozen=True)
class Item:
    nbytes: int


def test_the_posting_cache_evicts_the_least_recently_used_block():
    cache = PostingCache(10)
    for key in "abc":
        cache.put(key, Item(4))
        cache.get("a")
    assert [key for key in "abc" if cache.get(key)] == ["a", "c"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30))))
def test_the_posting_cache_keeps_its_size_except_for_one_larger_block(puts):
    cache = PostingCache(40)
    for key, size in puts:
        cache.put(key, Item(size))
        assert cache.size == sum(found.nbytes for key in range(10) if (found := cache.get(key)))
        assert cache.size <= 40
