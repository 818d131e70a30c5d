"""Writes what documents state, and the sums of it. The caller opens the transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from uuid import UUID

from knowledge_graph.extraction.records import Extraction
from knowledge_graph.recording.changes import Changes
from knowledge_graph.recording.closings import Closings
from knowledge_graph.recording.names import Names
from knowledge_graph.recording.rows import ProvenanceRows, names_of
from knowledge_graph.recording.sums import Sums
from service_kit.repository import Repository
from service_kit.statements import Statements

LONGEST_WAIT = "10min"


@dataclass(frozen=True)
class MadeFrom:
    """Everything that a document's graph depends on. `chunks_digest` is the SHA-256 of the object `chunks_key`;
    `written` is the date in its metadata; `folder` is the folder of its path in its source."""

    version: int
    name: str
    title: str | None
    language: str | None
    chunks_key: str
    chunks_digest: str
    written: str | None = None
    folder: str = ""

    @property
    def place(self) -> str:
        """The file's name, preceded by its folder."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True)
class KnownGraph(MadeFrom):
    """What a document's graph was made from, and what it holds."""

    entities: int = 0
    relations: int = 0
    document_id: UUID = field(kw_only=True)

    @property
    def source(self) -> MadeFrom:
        return MadeFrom(**{one.name: getattr(self, one.name) for one in fields(MadeFrom)})

    def is_made_from(self, source: MadeFrom) -> bool:
        """Returns whether extracting the document again would give the same graph."""
        return self.source == source


@dataclass(frozen=True)
class Graphed:
    """What to record of a document."""

    document_id: UUID
    source: MadeFrom
    chunks: int
    extraction: Extraction

    @property
    def entities(self) -> int:
        return len({mention.entity_id for mention in self.extraction.mentions})

    @property
    def relations(self) -> int:
        return len({(one.source_id, one.target_id, one.relation_type) for one in self.extraction.relations})

    @property
    def known(self) -> KnownGraph:
        made = asdict(self.source)
        return KnownGraph(**made, entities=self.entities, relations=self.relations, document_id=self.document_id)


@dataclass(frozen=True)
class RowCount:
    document_id: UUID
    kind: str
    rows: int


class ProvenanceSql(Statements, file="documents.sql"):
    current: str
    find: str
    extracted: str
    record: str
    remaining: str
    delete: str
    bury: str
    replaced_by: str
    generation: str
    raise_generation: str
    try_lock: str
    wait_without_limit: str
    lock: str
    reset_limits: str


class GraphProvenance(Repository):
    """The documents of a workspace's graph, and everything that follows from their rows."""

    async def lock(self, wait: str = LONGEST_WAIT) -> None:
        """Takes the workspace's turn to write: sums stay exact, and shared entities cannot deadlock.

        Waits for other writers for up to `wait`, which may exceed the statement timeout; then raises LockNotAvailable.
        """
        key = f"graph/{self.workspace_id}"
        if await self.value(ProvenanceSql.try_lock, key=key):
            return
        await self.run(ProvenanceSql.wait_without_limit, wait=wait)
        await self.run(ProvenanceSql.lock, key=key)
        await self.run(ProvenanceSql.reset_limits)

    async def current(self, versions: Mapping[UUID, int]) -> set[UUID]:
        """Returns those of the documents that were not deleted and of which no later version has been graphed."""
        values = {"document_ids": list(versions), "versions": list(versions.values())}
        return set(await self.values(ProvenanceSql.current, **values))

    async def find(self, document_id: UUID) -> KnownGraph | None:
        """Returns the document's graph, or None."""
        return next(iter(await self.find_all([document_id])), None)

    async def find_all(self, document_ids: Iterable[UUID]) -> list[KnownGraph]:
        """Returns the graphs of those of the documents that have one."""
        return await self.all(ProvenanceSql.find, KnownGraph, document_ids=list(document_ids))

    async def extracted(self) -> list[UUID]:
        """Returns the documents that were extracted from chunks; imported triples and corrections have none."""
        return await self.values(ProvenanceSql.extracted)

    async def replace(self, graphed: Graphed) -> Changes:
        """Replaces the document's rows by those of the extraction; returns what changed, for the projection queue."""
        return await self.replace_all([graphed])

    async def replace_all(self, graphed: Sequence[Graphed]) -> Changes:
        """Replaces the rows of several documents; their sums are brought up to date once."""
        changes = Changes([one.document_id for one in graphed])
        replaced = await self.values(ProvenanceSql.replaced_by, document_ids=list(changes.document_ids))
        changes.superseding |= set(replaced)
        changes.superseding |= {number for one in graphed for number in one.extraction.standing.replaces}
        await self.many(ProvenanceSql.record, map(_recorded, graphed))
        await self._record(changes, {one.document_id: one.extraction for one in graphed})
        return changes

    async def delete(self, document_id: UUID) -> tuple[Changes, dict[str, int]]:
        """Deletes the document for good; entities and relations without other provenance go too.

        Returns what changed, and counts of what was deleted.
        """
        changes, removed = await self.delete_all([document_id])
        return changes, removed[document_id]

    async def delete_all(self, document_ids: Sequence[UUID]) -> tuple[Changes, dict[UUID, dict[str, int]]]:
        """Deletes several documents; their sums are brought up to date once.

        The entities and relations that went with them are counted for the first one.
        """
        await self.run(ProvenanceSql.bury, document_ids=list(document_ids))
        removed = await self.remaining(document_ids)
        changes = Changes(document_ids)
        replaced = await self.values(ProvenanceSql.replaced_by, document_ids=list(document_ids))
        changes.superseding |= set(replaced)
        await self.run(ProvenanceSql.delete, document_ids=list(document_ids))
        await self._record(changes, {})
        for one in document_ids:
            is_first = one == document_ids[0]
            removed[one]["entities"] = changes.removed_entities if is_first else 0
            removed[one]["relations"] = changes.removed_relations if is_first else 0
        return changes, removed

    async def remaining(self, document_ids: Sequence[UUID]) -> dict[UUID, dict[str, int]]:
        """Counts the documents' rows by kind."""
        counts: dict[UUID, dict[str, int]] = {one: {} for one in document_ids}
        for one in await self.all(ProvenanceSql.remaining, RowCount, document_ids=list(document_ids)):
            counts[one.document_id][one.kind] = one.rows
        return counts

    async def raise_generation(self) -> None:
        """Records that answers from the graph may change, in the transaction that changes them."""
        await self.run(ProvenanceSql.raise_generation)

    async def _record(self, changes: Changes, extractions: Mapping[UUID, Extraction]) -> None:
        """Replaces the rows of all documents of the changes by those of the extractions.

        In order: names, the entities they stand for, then the rows that refer to both.
        """
        rows, names = ProvenanceRows(self.connection, self.workspace_id), Names(self.connection, self.workspace_id)
        old = await rows.delete(changes)
        new = names_of(self.workspace_id, extractions.values())
        await rows.insert_aliases(extractions)
        changed = await names.write(old, new)
        aliases = {alias for alias, _ in old.aliases ^ new.aliases}
        moved = await names.follow_aliases(aliases, changes) if aliases else []
        await rows.insert(extractions, changes)
        spread = Counter(new.candidates)
        spread.subtract(old.candidates)
        await names.follow_candidates(changed, moved, spread, changes)
        await Closings(self.connection, self.workspace_id).follow(changes)
        await Sums(self.connection, self.workspace_id).follow(changes)
        await self.raise_generation()


def _recorded(graphed: Graphed) -> dict[str, object]:
    """Returns the columns of the document's row."""
    place = graphed.extraction.standing
    return {
        **asdict(graphed.source),
        "document_id": graphed.document_id,
        "dated": place.written,
        "series": place.series,
        "edition": list(place.edition),
        "known_as": list(place.known_as),
        "replaces": list(place.replaces),
        "chunks": graphed.chunks,
        "entities": graphed.entities,
        "relations": graphed.relations,
        "method": graphed.extraction.method,
        "notes": graphed.extraction.notes,
    }
