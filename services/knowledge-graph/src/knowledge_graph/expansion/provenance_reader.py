"""Reads the provenance in PostgreSQL, for the bridge method."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.graph_expansion import LinkedName
from knowledge_graph.expansion.bridge import Mentioned, Pair, Start
from knowledge_graph.expansion.gazetteer import MOST_MEANINGS, Gazetteer, GazetteerSql, NamedEntity
from knowledge_graph.expansion.linking import Linked, Meaning, NameRun, asks, candidates, longest_known
from knowledge_graph.expansion.near_names import Near, nearest, unlinked
from knowledge_graph.expansion.partial_names import parts_of
from knowledge_graph.expansion.places import MOST_ABOUT, MOST_CHUNKS, MOST_MENTIONS, Place, Places, Where
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.graph_store import StoredEntity
from service_kit.postgres import Connection
from service_kit.repository import Repository
from service_kit.statements import Statements

MOST_NAMES = 50
MOST_LIKE = 20
MENTIONS_OF_A_SEED = 200
ENTITY = (
    "entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases"
)


@dataclass(frozen=True)
class _Meaning(NamedEntity):
    key: str


@dataclass(frozen=True)
class Stated:
    """A relation between two names in the words of its sentence; `number` is the number of the requested pair."""

    number: int
    relation_type: str
    phrase: str
    span_start: int
    span_end: int


class NameLookupSql(Statements, file="provenance.sql", entity=ENTITY):
    entities: str
    meanings: str
    names_like: str
    places: str
    chunks_about_names: str
    mentions: str
    stated_between: str


class ProvenanceReader(Repository):
    """Reads names, mentions and evidence in one transaction; every step is bounded.

    Names come from the `gazetteer` if there is one; it must be of the transaction's `generation`.
    """

    def __init__(
        self, connection: Connection, workspace_id: UUID, generation: str, gazetteer: Gazetteer | None = None
    ) -> None:
        super().__init__(connection, workspace_id)
        self.generation, self.gazetteer = generation, gazetteer
        self.chunks = gazetteer.chunks if gazetteer is not None else None

    async def linked(self, query: str, names: Sequence[str]) -> list[Linked]:
        runs = candidates(query)
        given = [key for key in map(name_key, names) if key]
        known = await self._meanings(sorted({*given, *(one.key for one in runs)}))
        named = [Linked(0, 0, tuple(known[key])) for key in dict.fromkeys(given) if key in known]
        chosen = longest_known(runs, known)
        if asks(query) and (left := unlinked(query, runs, chosen)):
            chosen += nearest(query, left, await self._near(left))
        return [*named, *chosen][:MOST_NAMES]

    async def _near(self, runs: Sequence[NameRun]) -> dict[str, list[Near]]:
        keys = sorted({one.key for one in runs})
        found: dict[str, list[Near]] = {}
        for row in await self.all(NameLookupSql.names_like, Near, keys=keys, most=MOST_LIKE):
            found.setdefault(row.key, []).append(row)
        return found

    async def linked_before(self, names: Sequence[LinkedName]) -> list[Linked]:
        """Restores the names that an earlier response linked."""
        known = await self._entities({one.entity_id for one in names})
        places: dict[tuple[int, int, str], list[Meaning]] = {}
        for one in names:
            if one.entity_id in known:
                place = (one.start, one.end, "" if one.end else one.entity_id)
                places.setdefault(place, []).append(Meaning(known[one.entity_id], one.share))
        return [Linked(start, end, tuple(meanings)) for (start, end, _), meanings in places.items()]

    async def _entities(self, ids: Collection[str]) -> dict[str, StoredEntity]:
        known: dict[str, StoredEntity] = {}
        if self.gazetteer is not None:
            # An entity has the id of the first of its names.
            known = {one.id: one for own in ids for one in self.gazetteer.entities(own) if one.id == own}
        if left := sorted(set(ids) - known.keys()):
            known |= {row.id: row for row in await self.all(NameLookupSql.entities, StoredEntity, ids=left)}
        return known

    async def _meanings(self, keys: Sequence[str]) -> dict[str, list[Meaning]]:
        if not keys:
            return {}
        ids = [entity_id(key) for key in keys]
        if self.gazetteer is not None:
            named = zip(keys, map(self.gazetteer.entities, ids), strict=True)
            return {key: _shared(own) for key, own in named if own}
        rows = await self.all(NameLookupSql.meanings, _Meaning, keys=list(keys), ids=ids, most=MOST_MEANINGS)
        found: dict[str, list[_Meaning]] = {}
        for row in rows:
            found.setdefault(row.key, []).append(row)
        return {key: _shared(own) for key, own in found.items()}

    async def places(self, ids: Sequence[str]) -> Places:
        """Returns the chunks that are about the entities or mention them."""
        if not ids:
            return Places([], 0)
        rows = await self._places(about=set(ids), mentioned=set(ids))
        return Places(rows, await self._chunks())

    async def _places(self, *, about: Collection[str] = (), mentioned: Collection[str] = ()) -> list[Where]:
        values = {"about": sorted(about), "mentioned": sorted(mentioned)}
        return await self.all(NameLookupSql.places, Where, **values, most=MOST_MENTIONS, titles=MOST_CHUNKS)

    async def _chunks(self) -> int:
        if self.chunks is None:
            self.chunks = int(await self.value(GazetteerSql.count_chunks))
        return self.chunks

    async def add_mentions(self, places: Places, ids: Collection[str]) -> None:
        """Adds the chunks that mention these entities to what `around` returned."""
        places.add(await self._places(mentioned=ids), ids)

    async def around(self, begun: Sequence[Start]) -> Places:
        """Returns the chunks about the mentioned entities; if no chunk is about one, those about parts of its name."""
        named = {one.mention.entity_id: one.mention for one in begun}
        if not named:
            return Places([], 0)
        found = Places([], await self._chunks())
        found.add(await self._places(about=named), ())
        parts = {
            own: parts_of(one.name, one.entity_type) for own, one in named.items() if not found.has_chunk_about(own)
        }
        ids = {key: entity_id(key) for sizes in parts.values() for keys in sizes for key in keys}
        known = sorted(filter(self._may_be_known, ids.values()))
        if not known:
            return found
        rows = await self.all(NameLookupSql.chunks_about_names, Where, ids=known, most=MOST_ABOUT)
        about = Places(rows, 0)
        for own, sizes in parts.items():
            for keys in sizes:
                chunks = [about.chunks_about(ids[key]) for key in keys]
                if any(chunks):
                    found.add_part(own, [one for one in chunks if one])
                    break
        return found

    def _may_be_known(self, name_id: str) -> bool:
        return self.gazetteer is None or any(one.is_exact for one in self.gazetteer.entities(name_id))

    async def mentions(self, seeds: Sequence[Place]) -> list[Mentioned]:
        return await self.all(
            NameLookupSql.mentions,
            Mentioned,
            chunk_ids=[chunk for _, chunk in seeds],
            document_ids=[document for document, _ in seeds],
            most=MENTIONS_OF_A_SEED,
        )

    async def stated(self, pairs: Collection[Pair]) -> dict[Pair, list[Stated]]:
        """Returns what the pairs' chunks state about the two entities, in either direction, most certain first."""
        wanted = list(pairs)
        if not wanted:
            return {}
        both = [*wanted, *((target, source, chunk) for source, target, chunk in wanted)]
        rows = await self.all(
            NameLookupSql.stated_between,
            Stated,
            numbers=[number % len(wanted) for number in range(len(both))],
            sources=[one[0] for one in both],
            targets=[one[1] for one in both],
            chunk_ids=[one[2] for one in both],
        )
        found: dict[Pair, list[Stated]] = {}
        for row in rows:
            found.setdefault(wanted[row.number], []).append(row)
        return found


def _shared(rows: Sequence[NamedEntity]) -> list[Meaning]:
    """Returns the entities of exactly that name, else all that are spelled so, with shares by frequency."""
    chosen = [row for row in rows if row.is_exact] or list(rows)
    total = sum(row.uses for row in chosen)
    return [Meaning(row, row.uses / total) for row in chosen]
