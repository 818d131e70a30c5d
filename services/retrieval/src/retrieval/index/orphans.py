"""The background task that deletes chunks whose document has no row, after an out-of-band change.

Searches leave such chunks out; here they are deleted with their postings and vectors. Each round checks a limited
number of documents per workspace, from where the last round ended, and deletes a limited number of orphans.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

import psycopg
from prometheus_client import CollectorRegistry, Counter

from relevance.analysis import Analyzer
from retrieval.index.blocks import PostingRows, batches
from retrieval.index.changes import Naming
from retrieval.index.documents import IndexDocumentRows
from retrieval.index.removal import PostingRemoval
from retrieval.reading.reader import IndexReader
from retrieval.reading.state import change_statistics
from service_kit.postgres import Database
from service_kit.problems import WorkspaceGone
from service_kit.repository import SystemRepository
from service_kit.statements import Statements

log = logging.getLogger(__name__)
ROUND_SECONDS = 600.0
LOOKED_AT = 5_000  # documents per workspace and round
REMOVED_AT_ONCE = 16  # documents per transaction
MOST_REMOVED = 320  # documents per workspace and round


class OrphanSql(Statements, file="orphans.sql"):
    """Chunks whose document has no row."""

    indexed_workspaces: LiteralString
    orphan_documents: LiteralString
    orphan_totals: LiteralString
    recount_stemmings: LiteralString


class OrphanRemoval:
    """Runs in every replica; orphans that two find at the same time are deleted by one of them."""

    def __init__(self, database: Database, registry: CollectorRegistry) -> None:
        self.database, self.analyzer = database, Analyzer()
        self.ends: dict[UUID, int] = {}
        self.removed = Counter(
            "attractor_stray_passages_removed_total",
            "Chunks deleted because their document was gone after an out-of-band change",
            registry=registry,
        )

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.round()
            await asyncio.sleep(ROUND_SECONDS)

    async def round(self) -> int:
        """Checks some documents of each workspace; returns how many chunks were deleted."""
        async with self.database.system() as connection:
            places = await SystemRepository(connection).values(OrphanSql.indexed_workspaces)
        self.ends = {place: self.ends.get(place, 0) for place in places}
        removed = 0
        for place in self.ends:
            try:
                removed += await self._look(place)
            except (WorkspaceGone, psycopg.Error) as error:  # must not stop the other workspaces
                log.warning("orphaned chunks not deleted yet", extra={"workspace_id": str(place)}, exc_info=error)
        return removed

    async def _look(self, workspace_id: UUID) -> int:
        async with self.database.workspace(workspace_id) as connection:
            values = {"after": self.ends[workspace_id], "most": LOOKED_AT}
            last, orphans = await IndexReader(connection, workspace_id).row(OrphanSql.orphan_documents, **values)
        removed, due = 0, orphans[:MOST_REMOVED]
        for some in batches(due, REMOVED_AT_ONCE):
            removed += await self._remove(workspace_id, some)
        self.ends[workspace_id] = due[-1] if len(due) < len(orphans) else last
        return removed

    async def _remove(self, workspace_id: UUID, documents: Sequence[int]) -> int:
        """Deletes orphans. Nothing else writes to them, so only the locks of postings and statistics are taken."""
        async with self.database.workspace(workspace_id) as connection:
            rows = PostingRows(connection, workspace_id)
            await rows.lock()
            reader = IndexReader(connection, workspace_id)
            orphans, chunks, terms = await reader.row(OrphanSql.orphan_totals, documents=list(documents))
            if not orphans:
                return 0  # another replica was faster
            unnamed = dict.fromkeys(orphans, Naming("", None))
            postings = (await PostingRemoval(rows, self.analyzer, unnamed).remove()).total()
            await IndexDocumentRows(connection, workspace_id).remove([(number, None) for number in orphans])
            await change_statistics(connection, workspace_id, -chunks, -terms)
            await rows.run(OrphanSql.recount_stemmings)
        self.removed.inc(chunks)
        counts = {"workspace_id": str(workspace_id), "documents": len(orphans), "chunks": chunks, "postings": postings}
        log.warning("deleted orphaned chunks after an out-of-band change", extra=counts)
        return int(chunks)
