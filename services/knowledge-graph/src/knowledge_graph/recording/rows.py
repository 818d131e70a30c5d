"""A document's own rows: out with the old ones, in with those of an extraction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Alias, Candidate, Extraction, Mention, RelationEvidence
from knowledge_graph.recording.changes import Changes, SummedEvidence, Use
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection

Row = TypeVar("Row")
LONGEST_SURFACE = 300
LONGEST_PHRASE = 300
WEIGHT_STEPS = 1024
"""Weights are multiples of 1/1024, so that sums of them are exact in whatever order they are added and taken away."""


@dataclass(frozen=True)
class GoneMention:
    entity_id: str
    name_id: str
    name_key: str
    surface: str
    surface_key: str
    entity_type: str
    is_own: bool
    uses: int


@dataclass(frozen=True)
class SaidAlias:
    alias_id: str
    alias_key: str
    target_id: str
    target_key: str
    evidence: int


@dataclass(frozen=True)
class CountedHash:
    hash: int
    chunks: int


@dataclass
class Names:
    """By name id, of one document: its own mentions, evidence for aliases, its key; in how many chunks candidates with
    a hash are; and what is said to be another name of what."""

    keys: dict[str, str] = field(default_factory=dict)
    own: Counter[str] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)
    candidates: Counter[int] = field(default_factory=Counter)
    aliases: set[tuple[str, str]] = field(default_factory=set)

    def say(self, alias: SaidAlias) -> None:
        self.keys |= {alias.alias_id: alias.alias_key, alias.target_id: alias.target_key}
        self.evidence.update({alias.alias_id: alias.evidence})
        self.evidence.update({alias.target_id: alias.evidence})
        self.aliases.add((alias.alias_id, alias.target_id))


def candidate_hash(workspace_id: UUID, name_id: str) -> int:
    """Of the workspace and the name, as a signed 8-byte integer: 0003_resolution.sql has the same in SQL."""
    digest = sha256(f"{workspace_id}/{name_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


async def fetch(connection: Connection, row: type[Row], query: str, **values: Any) -> list[Row]:
    """The rows of sql/<query>.sql."""
    async with connection.cursor(row_factory=class_row(row)) as cursor:
        return await (await cursor.execute(QUERIES[query], values)).fetchall()


async def remove(connection: Connection, workspace_id: UUID, document_id: UUID, changes: Changes) -> Names:
    """Takes the document's rows away; returns what names they held."""
    document = {"workspace_id": workspace_id, "document_id": document_id}
    names = Names()
    mentions = await fetch(connection, GoneMention, "delete_mentions", **document)
    for gone in mentions:
        changes.use(Use(gone.entity_id, gone.surface, gone.entity_type, gone.surface_key, gone.uses), -1)
        if gone.is_own:
            names.keys[gone.name_id] = gone.name_key
            names.own[gone.name_id] += gone.uses
    changes.entities_before |= {gone.entity_id for gone in mentions}
    for stated in await fetch(connection, SummedEvidence, "delete_evidence", **document):
        changes.state(stated, -1)
    for alias in await fetch(connection, SaidAlias, "delete_alias_evidence", **document):
        names.say(alias)
    for counted in await fetch(connection, CountedHash, "delete_candidates", **document):
        names.candidates[counted.hash] = counted.chunks
    return names


def names_of(workspace_id: UUID, extraction: Extraction) -> Names:
    """What names an extraction holds."""
    names = Names()
    for mention in extraction.mentions:
        names.keys[mention.entity_id] = mention.name_key
        names.own[mention.entity_id] += 1
    for alias in _aliases(extraction):
        names.say(SaidAlias(alias.alias_id, alias.alias_key, alias.target_id, alias.target_key, 1))
    chunks = {(candidate_hash(workspace_id, one.entity_id), one.chunk_id) for one in extraction.candidates}
    names.candidates.update(hashed for hashed, _ in chunks)
    return names


async def insert(
    connection: Connection, workspace_id: UUID, document_id: UUID, extraction: Extraction, changes: Changes
) -> None:
    """The rows of the extraction but for its aliases. Its names are in `name`, resolved already."""
    document = {"workspace_id": workspace_id, "document_id": document_id}
    await _insert_mentions(connection, document, extraction.mentions, changes)
    # A relation's ends are entities of the document: it cannot outlive them.
    named = {mention.entity_id for mention in extraction.mentions}
    between = [one for one in extraction.relations if {one.source_id, one.target_id} <= named]
    await _insert_evidence(connection, document, between, changes)
    await _insert_candidates(connection, document, extraction.candidates)


async def insert_aliases(connection: Connection, workspace_id: UUID, document_id: UUID, extraction: Extraction) -> None:
    aliases = _aliases(extraction)
    if aliases:
        await connection.execute(
            QUERIES["insert_alias_evidence"],
            {
                "workspace_id": workspace_id,
                "document_id": document_id,
                "alias_ids": [one.alias_id for one in aliases],
                "alias_keys": [one.alias_key for one in aliases],
                "aliases": [one.alias[:LONGEST_SURFACE] for one in aliases],
                "target_ids": [one.target_id for one in aliases],
                "target_keys": [one.target_key for one in aliases],
                "targets": [one.target[:LONGEST_SURFACE] for one in aliases],
                "methods": [one.method for one in aliases],
                "chunk_ids": [one.chunk_id for one in aliases],
                "starts": [one.start for one in aliases],
                "ends": [one.end for one in aliases],
            },
        )


def _aliases(extraction: Extraction) -> list[Alias]:
    return [one for one in extraction.aliases if one.alias_id != one.target_id]


async def _insert_mentions(
    connection: Connection, document: dict[str, UUID], mentions: Sequence[Mention], changes: Changes
) -> None:
    surfaces = [one.surface[:LONGEST_SURFACE] for one in mentions]
    keys = {surface: name_key(surface) for surface in set(surfaces)}
    values = {
        "numbers": list(range(1, len(mentions) + 1)),
        "name_ids": [one.entity_id for one in mentions],
        "name_keys": [one.name_key for one in mentions],
        "chunk_ids": [one.chunk_id for one in mentions],
        "surfaces": surfaces,
        "surface_keys": [keys[surface] for surface in surfaces],
        "types": [one.entity_type for one in mentions],
        "starts": [one.start for one in mentions],
        "ends": [one.end for one in mentions],
        "abouts": [one.about for one in mentions],
        "sentence_starts": [one.sentence_start for one in mentions],
        "sentence_ends": [one.sentence_end for one in mentions],
        "origins": [one.origin for one in mentions],
    }
    added = await fetch(connection, Use, "insert_mentions", **document, **values)
    for one in added:
        changes.use(one)
    changes.entities_after |= {one.entity_id for one in added}


async def _insert_evidence(
    connection: Connection, document: dict[str, UUID], relations: Sequence[RelationEvidence], changes: Changes
) -> None:
    values = {
        "numbers": list(range(1, len(relations) + 1)),
        "source_ids": [one.source_id for one in relations],
        "target_ids": [one.target_id for one in relations],
        "types": [one.relation_type for one in relations],
        "weights": [round(one.weight * WEIGHT_STEPS) / WEIGHT_STEPS for one in relations],
        "confidences": [one.confidence for one in relations],
        "chunk_ids": [one.chunk_id for one in relations],
        "starts": [one.start for one in relations],
        "ends": [one.end for one in relations],
        "methods": [one.method for one in relations],
        "phrases": [one.phrase[:LONGEST_PHRASE] for one in relations],
    }
    for one in await fetch(connection, SummedEvidence, "insert_evidence", **document, **values):
        changes.state(one)


async def _insert_candidates(
    connection: Connection, document: dict[str, UUID], candidates: Iterable[Candidate]
) -> None:
    chunks: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        chunks[one.chunk_id].append(one)
    rows, first = [], 0
    for chunk_id, of_chunk in chunks.items():
        rows.append(
            {
                **document,
                "first_number": first,
                "chunk_id": chunk_id,
                "hashes": [candidate_hash(document["workspace_id"], one.entity_id) for one in of_chunk],
                "surfaces": [one.surface[:LONGEST_SURFACE] for one in of_chunk],
                "starts": [one.start for one in of_chunk],
                "ends": [one.end for one in of_chunk],
                "sentence_starts": [one.sentence_start for one in of_chunk],
                "sentence_ends": [one.sentence_end for one in of_chunk],
            }
        )
        first += len(of_chunk)
    async with connection.cursor() as cursor:
        await cursor.executemany(QUERIES["insert_candidates"], rows)
