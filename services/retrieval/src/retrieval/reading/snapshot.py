"""Snapshots: one state of a workspace's index for all parts of a search, in a large one on several connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias
from uuid import UUID

from inference.embedders import SpaceKey
from inference.embeddings import BUNDLED_SPACE
from retrieval.reading.arrays import array_text
from retrieval.reading.candidate_rows import CandidateRow, CandidateRows
from retrieval.reading.known_rows import KnownRows
from retrieval.reading.reader import IndexReader, ReadingSql
from retrieval.reading.state import IndexState
from service_kit.postgres import Database
from service_kit.problems import Unavailable

ChunkPlace: TypeAlias = tuple[UUID, str]
"""(document, chunk id)."""
MANY_CHUNKS = 20_000  # in a smaller index, opening another transaction takes longer than a leg waits for its turn
LEFT_TO_OTHERS = 4  # one of this many connections is reserved for indexing
QUEUE_SECONDS = 10.0
BUNDLED = (BUNDLED_SPACE.model, BUNDLED_SPACE.dims)
SETTINGS = {
    "jit": "off",  # takes longer to start than a search takes
    "enable_sort": "off",  # or a wrong estimate of what passes a filter keeps a scan from the approximate index
    "work_mem": "32MB",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.max_scan_tuples": "100000",
}


class Snapshot:
    """One state of the index. `reader` uses the search's own connection; concurrent parts take `own` or `beside`."""

    def __init__(self, store: SearchStore, reader: IndexReader, seconds: float, state: IndexState) -> None:
        self.store, self.reader, self.seconds, self.state = store, reader, seconds, state
        self.turn = asyncio.Lock()
        space = store.default if state.model is None or state.dims is None else (state.model, state.dims)
        self.candidates = CandidateRows(reader, state.version, space, store.candidates)

    @property
    def workspace_id(self) -> UUID:
        return self.reader.workspace_id

    async def numbers(self, places: Sequence[ChunkPlace]) -> list[int | None]:
        """Returns the numbers of chunks that another service knows by document and id, None where there is none."""

        async def read(missing: Sequence[ChunkPlace]) -> Iterable[tuple[ChunkPlace, int]]:
            values = {
                "chunk_ids": [chunk for _, chunk in missing],
                "document_ids": array_text(document for document, _ in missing),
            }
            async with self.beside() as reader:
                rows = await reader.rows(ReadingSql.numbers_of_chunks, **values)
            return ((missing[place], number) for place, number in rows)

        found = await self.store.numbers.find((self.workspace_id, self.state.version), places, read)
        return [next(iter(found[place]), None) for place in places]

    @asynccontextmanager
    async def own(self) -> AsyncIterator[IndexReader]:
        """Yields the search's own connection, to one part at a time. It stays usable if a part fails."""
        connection = self.reader.connection
        async with self.turn:
            try:
                yield self.reader
            except BaseException:
                if not connection.closed:
                    await connection.execute(ReadingSql.back_to_snapshot)
                raise

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[IndexReader]:
        """Yields another connection on the same snapshot if the search's own is in use, the index is large and another
        connection is free.

        Otherwise waits for its own, so that no search waits for a second connection while holding one.
        """
        store, exported = self.store, self.state.exported
        if exported is None or store.free.locked() or not self.turn.locked():
            async with self.own() as reader:
                yield reader
            return
        settings = store.settings(self.seconds)
        async with store.free, store.database.snapshot(self.workspace_id, exported, settings) as connection:
            yield IndexReader(connection, self.workspace_id)


class SearchStore:
    """Opens the transactions of searches. `ef_search` is HNSW's number of candidates, `default` the embedding space of
    workspaces that have no active one yet.
    """

    def __init__(self, database: Database, ef_search: int, default: SpaceKey = BUNDLED) -> None:
        self.database, self.ef_search, self.default = database, ef_search, default
        size = database.pool.max_size
        self.candidates = KnownRows[int, CandidateRow]()
        self.numbers = KnownRows[ChunkPlace, int]()
        self.free = asyncio.Semaphore(max(1, size - max(1, size // LEFT_TO_OTHERS)))

    @asynccontextmanager
    async def snapshot(self, workspace_id: UUID, seconds: float) -> AsyncIterator[Snapshot]:
        """Opens a snapshot; its statements take `seconds` at most. Raises Unavailable if no connection is free."""
        try:
            async with asyncio.timeout(QUEUE_SECONDS):
                await self.free.acquire()
        except TimeoutError as error:
            raise Unavailable("too many searches at the same time") from error
        try:
            model, dims = self.default
            values = {"workspace_id": workspace_id, "model": model, "dims": dims, "many": MANY_CHUNKS}
            opened = self.database.snapshot_with(workspace_id, self.settings(seconds), ReadingSql.index_state, values)
            async with opened as (connection, state):
                yield Snapshot(self, IndexReader(connection, workspace_id), seconds, IndexState(**state))
        finally:
            self.free.release()

    def settings(self, seconds: float) -> dict[str, str]:
        """Returns the PostgreSQL settings for the transactions of a search."""
        return SETTINGS | {"statement_timeout": str(max(1, int(1000 * seconds)))}
