"""The background task that folds recent postings into the blocks of their terms.

A fold consists of a few transactions of about a second. They move the postings of a workspace's oldest recent rows
into the groups of their terms, or into blocks if a term has many. Searches see the state before or after each, and
indexing goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import psycopg
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from retrieval.index.blocks import CHANNEL, MOST_RECENT, PostingBlock, PostingRows, PostingRowsSql, Recent
from retrieval.index.groups import Group, GroupRows, NewGroup, belonging, regrouped
from retrieval.lexical.postings import LARGEST_BLOCK, Postings, TermPostings, join_terms, merge
from retrieval.reading.threads import releasing_gil
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.problems import WorkspaceGone
from service_kit.repository import SystemRepository

log = logging.getLogger(__name__)
LONGEST_WAIT_SECONDS = 20.0
FOLDED_AT_ONCE = 200_000  # postings
SMALL_AT_ONCE = 5_000  # blocks that belong in groups
PARTS = 3  # transactions per fold: each writes a third of the groups, so that the next can reuse the space freed
FEW = 20_000  # postings; fewer are folded in one transaction
MOST_RECENT_POSTINGS = 400_000  # per workspace, in however few rows
QUIET_ROWS = 20  # rows that a workspace may have when no one asks for a fold


@dataclass(frozen=True)
class WaitingPostings:
    """A workspace with rows that are not folded yet."""

    workspace_id: UUID
    documents: int
    postings: int


class Compaction:
    """Folds in every replica, but only one at a time per workspace."""

    def __init__(self, database: Database, registry: CollectorRegistry) -> None:
        self.database = database
        self.waiting = Gauge(
            "attractor_recent_postings_rows", "Rows of postings not yet folded into blocks", registry=registry
        )
        self.blocks = Counter("attractor_posting_blocks_written_total", "Blocks of postings written", registry=registry)
        self.seconds = Histogram(
            "attractor_posting_fold_seconds",
            "Duration of transactions that fold recent postings into blocks",
            buckets=(0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
            registry=registry,
        )

    async def run(self, notifications: Notifications) -> None:
        """Runs until cancelled: folds at once if a workspace has many recent rows, periodically otherwise."""
        async with notifications.subscribe(CHANNEL) as wakeups:
            most = QUIET_ROWS
            while True:
                await self.work_off(most)
                most = MOST_RECENT if await wakeups.wait(LONGEST_WAIT_SECONDS) else QUIET_ROWS

    async def work_off(self, most: int = 0) -> None:
        """Folds until no workspace has more than `most` recent rows, or too many postings in them.

        A workspace that another replica is folding is left to it.
        """
        left = await self._waiting(most)
        while left:
            for workspace_id in list(left):
                try:
                    if not await self.fold(workspace_id):
                        left.discard(workspace_id)
                except (WorkspaceGone, psycopg.Error) as error:  # must not stop the other workspaces
                    log.warning(
                        "recent postings not folded yet", extra={"workspace_id": str(workspace_id)}, exc_info=error
                    )
                    left.discard(workspace_id)
            left &= await self._waiting(most)

    async def fold(self, workspace_id: UUID, most: int = FOLDED_AT_ONCE) -> bool:
        """Folds about `most` postings of the oldest rows; returns False if there was nothing to do."""
        left: list[tuple[int, int]] | None = None
        for part in range(PARTS):
            async with self.database.workspace(workspace_id) as connection:
                rows = PostingRows(connection, workspace_id)
                if not await rows.value(PostingRowsSql.try_lock):
                    return False
                if left is None:
                    recent = await rows.read(Recent, PostingRowsSql.oldest_recent, most=most)
                else:
                    recent = await rows.recent(left)
                few = sum(len(row.terms.all_postings) for row in recent) < FEW
                last = part == PARTS - 1 or (few and part == 0)
                small = await rows.read(PostingBlock, PostingRowsSql.small_blocks, limit=SMALL_AT_ONCE) if last else []
                if not recent and not small:
                    return part > 0
                left = await self._fold(rows, recent, small, None if last else part)
            if last:
                break
        return True

    async def _fold(
        self, rows: PostingRows, recent: Sequence[Recent], small: Sequence[PostingBlock], part: int | None
    ) -> list[tuple[int, int]]:
        """Folds the postings that belong in one part of the groups (None: all); returns the rows with the rest."""
        start = time.perf_counter()
        groups = GroupRows(rows)
        added = await asyncio.to_thread(_added, recent, small)
        touched = [one async for some in groups.touched(added.terms, part, PARTS) for one in some]
        own, frequent, left = await asyncio.to_thread(_regrouped, recent, added, touched)
        growing = await rows.growing(dict(zip(frequent.terms, frequent.counts.tolist(), strict=True)))
        blocks = await asyncio.to_thread(_blocks, frequent, growing)
        await rows.remove([*growing.values(), *small])
        await rows.add(blocks)
        await groups.put(own)
        await rows.remove_recent(recent)
        self.blocks.inc(len(blocks))
        self.seconds.observe(time.perf_counter() - start)
        return await rows.add_recent(left)

    async def _waiting(self, most: int) -> set[UUID]:
        async with self.database.system() as connection:
            found = await SystemRepository(connection).all(PostingRowsSql.recent_workspaces, WaitingPostings)
        self.waiting.set(sum(one.documents for one in found))
        return {one.workspace_id for one in found if one.documents > most or one.postings > MOST_RECENT_POSTINGS}


def _added(recent: Sequence[Recent], small: Sequence[PostingBlock]) -> TermPostings:
    of_blocks = [TermPostings([one.term], np.array([len(one.postings)]), one.postings) for one in releasing_gil(small)]
    return join_terms([*(row.terms for row in releasing_gil(recent)), *of_blocks])


def _regrouped(
    recent: Sequence[Recent], added: TermPostings, touched: Sequence[Group]
) -> tuple[list[NewGroup], TermPostings, list[tuple[int, TermPostings]]]:
    """Returns the new groups, the terms for blocks, and by document what is left of the recent rows."""
    own = belonging(added, touched)
    groups = [group for group in touched if group.payload]
    rest = {term for term, ours in zip(added.terms, own.tolist(), strict=True) if not ours}
    new, frequent = regrouped(groups, join_terms([added.of(own), *(group.terms for group in releasing_gil(groups))]))
    if not rest:
        return new, frequent, []
    left = [
        (row.document, row.terms.of(np.array([term in rest for term in row.terms.terms], bool)))
        for row in releasing_gil(recent)
    ]
    return new, frequent, left


def _blocks(frequent: TermPostings, growing: dict[str, PostingBlock]) -> list[tuple[str, Postings]]:
    found: list[tuple[str, Postings]] = []
    for term, postings in releasing_gil(frequent.items()):
        every = merge(growing[term].postings, postings) if term in growing else postings
        found += [(term, part) for part in every.split(LARGEST_BLOCK)]
    return found
