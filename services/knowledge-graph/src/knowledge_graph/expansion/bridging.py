"""What the bridge method reads: the provenance in PostgreSQL, in one transaction, every step bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from contracts.graph_expansion import ExpandedChunk, ExpandRequest, ExpandResponse, LinkedName, PathStep
from knowledge_graph.expansion.bridge import (
    MOST_MENTIONS,
    MOST_ONWARD,
    Asked,
    Bridged,
    Lifted,
    Mentioned,
    Place,
    Places,
    Start,
    Where,
    bridged,
    joined,
    lifted,
    onward,
    starts,
)
from knowledge_graph.expansion.linking import Linked, Meaning, asks, candidates, longest_known, without_names
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.shown import to_entity
from knowledge_graph.store.interface import StoredEntity
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection, Database

Row = TypeVar("Row")
MOST_MEANINGS = 3
MOST_NAMES = 50
MOST_SEEDS = 8
MOST_STARTS = 100
MENTIONS_OF_A_SEED = 200


@dataclass(frozen=True)
class _Meaning(StoredEntity):
    key: str
    uses: int
    is_exact: bool


@dataclass(frozen=True)
class _Stated:
    number: int
    relation_type: str
    phrase: str
    span_start: int
    span_end: int


class Bridging:
    """Links texts with the workspace's names, and follows bridges from there."""

    def __init__(self, database: Database, statement_milliseconds: int = 2_000) -> None:
        self.database, self.statement_milliseconds = database, statement_milliseconds

    async def linked(self, workspace_id: UUID, query: str, names: Sequence[str]) -> list[Linked]:
        """The known names of the query, and of `names` those that are known (at 0 to 0)."""
        async with self._reading(workspace_id) as connection:
            return await _Reading(connection, workspace_id).linked(query, names)

    async def expand(self, workspace_id: UUID, request: ExpandRequest) -> ExpandResponse:
        """The `bridge` method; with no name known the answer is empty."""
        async with self._reading(workspace_id) as connection:
            reading = _Reading(connection, workspace_id)
            # Chunks that share a concept are not about one thing: to follow those leads ordinary questions astray.
            found = await reading.linked(request.query or "", request.entities)
            linked = [one for one in found if not one.is_concept]
            asked = _asked(linked)
            chunks = await self._chunks(reading, asked, request) if asked else []
        return ExpandResponse(
            entities=[to_entity(one) for one in entities(linked)],
            names=names_of(linked),
            residual=without_names(request.query or "", [one for one in linked if one.end]),
            chunks=chunks,
            store="postgres",
        )

    async def _chunks(self, reading: _Reading, asked: Sequence[Asked], request: ExpandRequest) -> list[ExpandedChunk]:
        named = await reading.places([one.entity_id for one in asked])
        is_question = asks(request.query) if request.query else True
        found = lifted(asked, named, is_question=is_question)
        chunks = [_about(one) for one in found[: request.limit]]
        if request.max_hops == 0:
            return chunks
        seeds = {(one.document_id, one.chunk_id): one.score for one in request.seeds}
        if not seeds:
            seeds = {one.place: one.score / found[0].score for one in found[:MOST_SEEDS] if found[0].score}
        begun = starts(seeds, await reading.mentions(sorted(seeds)), asked, named, is_question=is_question)[
            :MOST_STARTS
        ]
        ends = bridged(begun, await reading.places([one.mention.entity_id for one in begun]))
        if request.max_hops > 1 and ends:
            known = {one.entity_id for one in asked} | {one.mention.entity_id for one in begun}
            mentions = await reading.mentions([one.place for one in ends[:MOST_ONWARD]])
            further = onward(ends[:MOST_ONWARD], mentions, known)[:MOST_STARTS]
            ends = joined(ends, bridged(further, await reading.places([one.mention.entity_id for one in further])))
        ends = ends[: request.limit]
        stated = await reading.stated([start for one in ends for start in one.start.way])
        return chunks + [_bridged(one, stated) for one in ends]

    def _reading(self, workspace_id: UUID) -> AbstractAsyncContextManager[Connection]:
        settings = {"statement_timeout": str(self.statement_milliseconds), "jit": "off"}
        return self.database.snapshot(workspace_id, settings=settings)


class _Reading:
    """The queries, in one transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        self.connection, self.workspace_id = connection, workspace_id

    async def linked(self, query: str, names: Sequence[str]) -> list[Linked]:
        runs = candidates(query)
        given = [key for key in map(name_key, names) if key]
        known = await self._meanings(sorted({*given, *(one.key for one in runs)}))
        named = [Linked(0, 0, tuple(known[key])) for key in dict.fromkeys(given) if key in known]
        return [*named, *longest_known(runs, known)][:MOST_NAMES]

    async def _meanings(self, keys: Sequence[str]) -> dict[str, list[Meaning]]:
        if not keys:
            return {}
        ids = [entity_id(key) for key in keys]
        rows = await self._all(_Meaning, QUERIES["meanings_of_names"], keys=list(keys), ids=ids, most=MOST_MEANINGS)
        found: dict[str, list[_Meaning]] = {}
        for row in rows:
            found.setdefault(row.key, []).append(row)
        return {key: _shared(own) for key, own in found.items()}

    async def places(self, ids: Sequence[str]) -> Places:
        if not ids:
            return Places([], 0)
        rows = await self._all(Where, QUERIES["places_of_names"], ids=sorted(set(ids)), most=MOST_MENTIONS)
        cursor = await self.connection.execute(QUERIES["count_chunks"], {"workspace_id": self.workspace_id})
        return Places(rows, (await cursor.fetchone() or (0,))[0])

    async def mentions(self, seeds: Sequence[Place]) -> list[Mentioned]:
        return await self._all(
            Mentioned,
            QUERIES["mentions_in_chunks"],
            chunk_ids=[chunk for _, chunk in seeds],
            document_ids=[document for document, _ in seeds],
            most=MENTIONS_OF_A_SEED,
        )

    async def stated(self, found: Sequence[Start]) -> dict[tuple[str, str, str], _Stated]:
        """By pair, what its chunk states between the two."""
        pairs = list(dict.fromkeys(map(_pair, found)))
        if not pairs:
            return {}
        both = [*pairs, *((target, source, chunk) for source, target, chunk in pairs)]
        rows = await self._all(
            _Stated,
            QUERIES["stated_between"],
            numbers=[number % len(pairs) for number in range(len(both))],
            sources=[one[0] for one in both],
            targets=[one[1] for one in both],
            chunk_ids=[one[2] for one in both],
        )
        return {pairs[row.number]: row for row in reversed(rows)}

    async def _all(self, row: type[Row], query: LiteralString, **values: Any) -> list[Row]:
        async with self.connection.cursor(row_factory=class_row(row)) as cursor:
            return await (await cursor.execute(query, {"workspace_id": self.workspace_id, **values})).fetchall()


def entities(linked: Sequence[Linked]) -> list[StoredEntity]:
    """Each once, in the order of the names."""
    return list({one.entity.id: one.entity for name in linked for one in name.meanings}.values())


def names_of(linked: Sequence[Linked]) -> list[LinkedName]:
    return [
        LinkedName(start=name.start, end=name.end, entity_id=one.entity.id, share=round(one.share, 4))
        for name in linked
        for one in name.meanings
    ]


def _asked(linked: Sequence[Linked]) -> list[Asked]:
    found: dict[str, Asked] = {}
    for name in linked:
        for one in name.meanings:
            if one.entity.id not in found or one.share > found[one.entity.id].share:
                found[one.entity.id] = Asked(one.entity.id, one.entity.name, one.entity.mentions, one.share)
    return list(found.values())


def _shared(rows: Sequence[_Meaning]) -> list[Meaning]:
    """An entity of that very name is it; else those that are written so share the name by how often they are."""
    chosen = [row for row in rows if row.is_exact] or list(rows)
    total = sum(row.uses for row in chosen)
    return [Meaning(row, row.uses / total) for row in chosen]


def _pair(start: Start) -> tuple[str, str, str]:
    return start.source[0], start.mention.entity_id, start.mention.chunk_id


def _about(one: Lifted) -> ExpandedChunk:
    document_id, chunk_id = one.place
    return ExpandedChunk(
        chunk_id=chunk_id, document_id=document_id, hop=0, path=[one.name], score=round(one.score, 6), about=one.about
    )


def _bridged(one: Bridged, stated: Mapping[tuple[str, str, str], _Stated]) -> ExpandedChunk:
    document_id, chunk_id = one.place
    steps = [_step(start, stated.get(_pair(start))) for start in one.start.way]
    return ExpandedChunk(
        chunk_id=chunk_id,
        document_id=document_id,
        hop=len(steps),
        path=[steps[0].source, *(step.target for step in steps)],
        score=round(one.gain, 6),
        steps=steps,
    )


def _step(start: Start, stated: _Stated | None) -> PathStep:
    mention = start.mention
    relation = None if stated is None else stated.phrase or stated.relation_type.lower().replace("_", " ")
    span = (mention.sentence_start, mention.sentence_end)
    if stated is not None and stated.span_end:
        span = (stated.span_start, stated.span_end)
    return PathStep(
        source=start.source[1],
        target=mention.name,
        relation=relation,
        chunk_id=mention.chunk_id,
        document_id=mention.document_id,
        start=span[0],
        end=span[1],
    )
