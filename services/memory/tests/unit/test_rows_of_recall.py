"""Recall reads only as many rows as it needs, and returns what it would return if it read all."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from said_messages import said_at

from contracts.memory import RecalledMemory, RecallRequest
from memory.recall import recall
from memory.recall.index import RankedMemories

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
LEAST = 0.62


class CountedRows:
    """Returns the rows of candidates, and counts how many were read."""

    def __init__(self, stored: dict[UUID, RecalledMemory]) -> None:
        self.stored, self.read = stored, 0

    async def candidates(self, _user_id, ids, *_args, **_named):
        self.read += len(ids)
        return [self.stored[one] for one in ids if one in self.stored]


async def read(found: RankedMemories, rows: CountedRows, request: RecallRequest):
    return await recall.Recall._read(None, rows, uuid4(), found, request, NOW, LEAST)


SCORES = st.lists(
    st.tuples(st.floats(0, 3), st.sampled_from(["tea", "coffee at eight", "the van"]), st.booleans(), st.booleans()),
    max_size=150,
)


@given(stored=SCORES, k=st.integers(1, 10))
async def test_the_results_are_the_same_as_if_all_rows_were_read(stored, k):
    ranked = sorted(stored, key=lambda one: -one[0])
    memories = [
        said_at(NOW, f"{text} {number // 3}", superseded=over) for number, (_, text, over, _) in enumerate(ranked)
    ]
    known = {one.id: one for one, (*_, kept) in zip(memories, ranked, strict=True) if kept}
    scores = np.array([one[0] for one in ranked])
    found, request = RankedMemories([one.id for one in memories], scores, {}), RecallRequest(query="tea?", k=k)
    _, results = await read(found, CountedRows(known), request)
    assert results == recall._selected(found, list(known.values()), request, LEAST)


async def test_rows_that_cannot_be_results_are_not_read():
    memories = [said_at(NOW, f"Van {number} is white.") for number in range(200)]
    scores = np.linspace(2, 0, 200)
    found = RankedMemories([one.id for one in memories], scores, {})
    rows = CountedRows({one.id: one for one in memories})
    await read(found, rows, RecallRequest(query="Which van is white?", k=5))
    assert rows.read == recall.AT_ONCE
