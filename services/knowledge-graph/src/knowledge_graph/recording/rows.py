"""Replaces documents' own rows by those of extractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import UUID

from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Alias, Candidate, Extraction, Mention, RelationEvidence
from knowledge_graph.recording.changes import Changes, SummedEvidence, Use
from service_kit.repository import Repository, Row
from service_kit.statements import Statements

LONGEST_SURFACE = 300
LONGEST_PHRASE = 300
WEIGHT_STEPS = 1024
"""Weights are multiples of 1/1024, so their sums are exact in whatever order they are added and subtracted."""


@dataclass(frozen=True)
class GoneMention:
    document_id: UUID
    entity_id: str
    name_id: str
    name_key: str
    surface: str
    surface_key: str
    entity_type: str
    is_own: bool
    uses: int
    stated: int


@dataclass(frozen=True)
class NewMention:
    document_id: UUID
    entity_id: str
    surface: str
    surface_key: str
    entity_type: str
    uses: int
    stated: int


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
class DocumentNames:
    """The names of documents, by name id: their own mentions, the evidence for aliases and its key. Also the number of
    chunks with candidates, by hash, and the stated (alias, target) pairs."""

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
    """Hashes workspace and name to a signed 8-byte integer, as 0003_resolution.sql does in SQL."""
    digest = sha256(f"{workspace_id}/{name_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def names_of(workspace_id: UUID, extractions: Iterable[Extraction]) -> DocumentNames:
    """Returns the names in the extractions of documents."""
    names = DocumentNames()
    for extraction in extractions:
        for mention in extraction.mentions:
            names.keys[mention.entity_id] = mention.name_key
            names.own[mention.entity_id] += 1
        for alias in _aliases(extraction):
            names.say(SaidAlias(alias.alias_id, alias.alias_key, alias.target_id, alias.target_key, 1))
        chunks = {(candidate_hash(workspace_id, one.entity_id), one.chunk_id) for one in extraction.candidates}
        names.candidates.update(hashed for hashed, _ in chunks)
    return names


class RowSql(Statements, file="rows.sql"):
    delete_mentions: str
    delete_evidence: str
    delete_alias_evidence: str
    delete_candidates: str
    insert_mentions: str
    insert_evidence: str
    insert_alias_evidence: str
    insert_candidates: str


class ProvenanceRows(Repository):
    """The mentions, evidence and candidates of documents; `changes` collects what the sums must apply."""

    async def delete(self, changes: Changes) -> DocumentNames:
        """Deletes the documents' rows; returns their names."""
        names, of = DocumentNames(), {"document_ids": list(changes.document_ids)}
        mentions = await self.all(RowSql.delete_mentions, GoneMention, **of)
        for gone in mentions:
            use = Use(gone.entity_id, gone.surface, gone.entity_type, gone.surface_key, gone.uses, gone.stated)
            changes.use(use, -1)
            if gone.is_own:
                names.keys[gone.name_id] = gone.name_key
                names.own[gone.name_id] += gone.uses
        mentioned = {(gone.document_id, gone.entity_id) for gone in mentions}
        changes.entities_before.update(entity for _, entity in mentioned)
        for stated in await self.all(RowSql.delete_evidence, SummedEvidence, **of):
            changes.state(stated, -1)
        for alias in await self.all(RowSql.delete_alias_evidence, SaidAlias, **of):
            names.say(alias)
        for counted in await self.all(RowSql.delete_candidates, CountedHash, **of):
            names.candidates[counted.hash] = counted.chunks
        return names

    async def insert(self, extractions: Mapping[UUID, Extraction], changes: Changes) -> None:
        """Inserts the documents' rows except for aliases; their names must already be in `name`, and resolved."""
        if not extractions:
            return
        await self._insert_mentions({one: of.mentions for one, of in extractions.items()}, changes)
        await self._insert_evidence({one: _between(of) for one, of in extractions.items()}, changes)
        candidates = [row for one, of in extractions.items() for row in self._candidates(one, of.candidates)]
        await self.many(RowSql.insert_candidates, candidates)

    async def insert_aliases(self, extractions: Mapping[UUID, Extraction]) -> None:
        places, aliases = _numbered({one: _aliases(of) for one, of in extractions.items()})
        if aliases:
            await self.run(
                RowSql.insert_alias_evidence,
                **places,
                alias_ids=[one.alias_id for one in aliases],
                alias_keys=[one.alias_key for one in aliases],
                aliases=[one.alias[:LONGEST_SURFACE] for one in aliases],
                target_ids=[one.target_id for one in aliases],
                target_keys=[one.target_key for one in aliases],
                targets=[one.target[:LONGEST_SURFACE] for one in aliases],
                methods=[one.method for one in aliases],
                chunk_ids=[one.chunk_id for one in aliases],
                starts=[one.start for one in aliases],
                ends=[one.end for one in aliases],
            )

    async def _insert_mentions(self, of_documents: Mapping[UUID, Sequence[Mention]], changes: Changes) -> None:
        places, mentions = _numbered(of_documents)
        surfaces = [one.surface[:LONGEST_SURFACE] for one in mentions]
        keys = {surface: name_key(surface) for surface in set(surfaces)}
        added = await self.all(
            RowSql.insert_mentions,
            NewMention,
            **places,
            name_ids=[one.entity_id for one in mentions],
            name_keys=[one.name_key for one in mentions],
            chunk_ids=[one.chunk_id for one in mentions],
            surfaces=surfaces,
            surface_keys=[keys[surface] for surface in surfaces],
            types=[one.entity_type for one in mentions],
            starts=[one.start for one in mentions],
            ends=[one.end for one in mentions],
            abouts=[one.about for one in mentions],
            sentence_starts=[one.sentence_start for one in mentions],
            sentence_ends=[one.sentence_end for one in mentions],
            origins=[one.origin for one in mentions],
            states_types=[one.states_type for one in mentions],
        )
        for one in added:
            changes.use(Use(one.entity_id, one.surface, one.entity_type, one.surface_key, one.uses, one.stated))
        changes.mentioned_after |= {(one.entity_id, one.document_id) for one in added}

    async def _insert_evidence(self, of_documents: Mapping[UUID, Sequence[RelationEvidence]], changes: Changes) -> None:
        places, relations = _numbered(of_documents)
        added = await self.all(
            RowSql.insert_evidence,
            SummedEvidence,
            **places,
            source_ids=[one.source_id for one in relations],
            target_ids=[one.target_id for one in relations],
            types=[one.relation_type for one in relations],
            weights=[round(one.weight * WEIGHT_STEPS) / WEIGHT_STEPS for one in relations],
            confidences=[one.confidence for one in relations],
            chunk_ids=[one.chunk_id for one in relations],
            starts=[one.start for one in relations],
            ends=[one.end for one in relations],
            methods=[one.method for one in relations],
            phrases=[one.phrase[:LONGEST_PHRASE] for one in relations],
            statuses=[one.status for one in relations],
            dates=[one.dated for one in relations],
        )
        for one in added:
            changes.state(one)

    def _candidates(self, document_id: UUID, candidates: Iterable[Candidate]) -> Iterator[dict[str, object]]:
        """Yields a row for each chunk."""
        chunks: dict[str, list[Candidate]] = defaultdict(list)
        for one in candidates:
            chunks[one.chunk_id].append(one)
        first = 0
        for chunk_id, of_chunk in chunks.items():
            yield {
                "document_id": document_id,
                "first_number": first,
                "chunk_id": chunk_id,
                "hashes": [candidate_hash(self.workspace_id, one.entity_id) for one in of_chunk],
                "surfaces": [one.surface[:LONGEST_SURFACE] for one in of_chunk],
                "starts": [one.start for one in of_chunk],
                "ends": [one.end for one in of_chunk],
                "sentence_starts": [one.sentence_start for one in of_chunk],
                "sentence_ends": [one.sentence_end for one in of_chunk],
            }
            first += len(of_chunk)


def _numbered(of_documents: Mapping[UUID, Sequence[Row]]) -> tuple[dict[str, object], list[Row]]:
    """Returns the columns that tell the rows of the documents apart, and the rows."""
    rows = [(one, number, row) for one, own in of_documents.items() for number, row in enumerate(own, 1)]
    places: dict[str, object] = {
        "document_ids": [one for one, _, _ in rows],
        "numbers": [number for _, number, _ in rows],
    }
    return places, [row for _, _, row in rows]


def _between(extraction: Extraction) -> list[RelationEvidence]:
    """Returns the relations whose ends are entities of the document: a relation cannot outlive them."""
    named = {mention.entity_id for mention in extraction.mentions}
    return [one for one in extraction.relations if {one.source_id, one.target_id} <= named]


def _aliases(extraction: Extraction) -> list[Alias]:
    return [one for one in extraction.aliases if one.alias_id != one.target_id]
