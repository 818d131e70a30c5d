"""Mentions that are not read would not change the answer."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from knowledge_graph.expansion.bridge import Bridged, Mentioned, QuestionName, Start, bridged, joined
from knowledge_graph.expansion.bridging import best_ends
from knowledge_graph.expansion.places import Places, Where

NAME = QuestionName("lothair", "Lothair II", 3, 1.0)
CHUNKS, MOST = 40, 4
ABOUT = st.sampled_from([None, None, None, "title", "definition", "heading", "subject"])
PLACE = st.tuples(st.integers(0, CHUNKS - 1), ABOUT, st.booleans())
ENTITIES = st.lists(
    st.tuples(
        st.sampled_from([0.05, 0.2, 0.5, 0.8, 1.0, 1.25]),
        st.lists(PLACE, min_size=1, max_size=12, unique_by=lambda one: one[0]),
        st.sampled_from(["PERSON", "CONCEPT"]),
    ),
    max_size=8,
)


@dataclass
class Tables:
    """The places of all entities; `read` counts the rows that were asked for."""

    rows: dict[str, list[Where]] = field(default_factory=lambda: defaultdict(list))
    read: int = 0

    async def around(self, begun: list[Start]) -> Places:
        found = Places([], CHUNKS)
        found.add([row for one in begun for row in self.rows[one.mention.entity_id] if row.about is not None], ())
        return found

    async def add_mentions(self, places: Places, ids: set[str]) -> None:
        added = [row for one in sorted(ids) for row in self.rows[one] if row.about is None]
        self.read += len(added)
        places.add(added, ids)


def started(tables: Tables, prefix: str, drawn) -> list[Start]:
    """Fills the tables, and returns the start of a bridge over each entity, best first."""
    found = []
    for number, (weight, places, kind) in enumerate(drawn):
        entity = f"{prefix}{number}"
        documents = {chunk // 2 for chunk, _, _ in places}
        tables.rows[entity] = [
            Where(entity, f"c{chunk:02}", UUID(int=chunk // 2), about, is_titled and about is None)
            for chunk, about, is_titled in places
        ]
        mention = Mentioned("seed", UUID(int=99), entity, None, 0, 9, entity, kind, len(places), len(documents))
        found.append(Start(weight, NAME, mention))
    return sorted(found, key=lambda one: (-one.weight, one.mention.entity_id))


def all_ends(tables: Tables, begun: list[Start]) -> list[Bridged]:
    rows = [row for one in begun for row in tables.rows[one.mention.entity_id]]
    return bridged(begun, Places(rows, CHUNKS))


@given(ENTITIES, ENTITIES)
def test_the_best_ends_are_those_of_all_mentions(first, second):
    tables = Tables()
    begun, further = started(tables, "a", first), started(tables, "b", second)
    ends = asyncio.run(best_ends(tables, begun, [], MOST))
    assert ends == all_ends(tables, begun)[:MOST]
    more = asyncio.run(best_ends(tables, further, ends, MOST))
    assert more == joined(all_ends(tables, begun), all_ends(tables, further))[:MOST]


def test_mentions_of_a_frequent_name_are_not_read_once_enough_better_chunks_are_known():
    tables = Tables()
    about = [(1.0, [(number, "title", False)], "PERSON") for number in range(MOST)]
    frequent = (0.5, [(number, None, False) for number in range(10, 22)], "PERSON")
    begun = started(tables, "a", [*about, frequent])
    assert len(asyncio.run(best_ends(tables, begun, [], MOST))) == MOST
    assert tables.read == 0
    assert len(asyncio.run(best_ends(tables, begun, [], MOST + 1))) == MOST
    assert tables.read == 12
