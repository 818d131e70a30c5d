"""The rows of embedding spaces, in the caller's transaction.

A change of a workspace's chunks or its active space takes the workspace's lock: writers share it (service_kit's guard
takes it for each of them), a switch takes it exclusively. The lock of a document comes after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from psycopg.rows import scalar_row

from contracts.embedding_spaces import SpaceStatus
from contracts.events import DocumentIndexed
from inference.embedders import SpaceKey
from service_kit.postgres import Connection
from service_kit.repository import Repository
from service_kit.statements import Statements
from service_kit.work import WorkTable

CHANNEL = "retrieval_embedding_space"
IDLE = "idle"


def space_id(model: str, dims: int) -> str:
    """Returns the id of the space, which is the same in every workspace, like `embedding_space_id` in the database."""
    return hashlib.md5(f"{model}/{dims}".encode(), usedforsecurity=False).hexdigest()[:16]


@dataclass(frozen=True)
class SpaceRow:
    """A space, requested or possible. `rate`: vectors per second while it is built; `state`: that of the work on it."""

    id: str
    model: str
    dims: int
    status: SpaceStatus
    activate: bool = False
    state: str = IDLE
    attempts: int = 0
    rate: float | None = None
    error_class: str | None = None
    error_message: str | None = None
    created_at: datetime | None = None
    activated_at: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", SpaceStatus(self.status))

    @property
    def key(self) -> SpaceKey:
        return self.model, self.dims


@dataclass(frozen=True)
class LeasedSpace:
    """A space as it was when it was claimed. `attempts` counts this claim, and those before it that failed."""

    workspace_id: UUID
    lease_token: UUID
    id: str
    model: str
    dims: int
    status: str
    attempts: int
    rate: float | None

    @property
    def key(self) -> SpaceKey:
        return self.model, self.dims


@dataclass(frozen=True)
class MissingChunk:
    """A chunk without a vector of the space."""

    number: int
    document_id: UUID
    heading_path: list[str]
    content: str


# Claims list the configured models as `models` and `dims`; dropping a space does not need its model. A change of status
# ends the lease; a space that needs no work is idle.
TABLE = WorkTable(
    name="embedding_space",
    row=LeasedSpace,
    channel=CHANNEL,
    claimable="work.status = 'dropping' OR (work.model, work.dims) IN (SELECT * FROM unnest(%(models)s::text[], "
    "%(dims)s::integer[]))",
)


class SpaceSql(Statements, file="spaces.sql"):
    """Embedding spaces, the vectors that they have, and those that they lack."""

    all: LiteralString
    add: LiteralString
    change: LiteralString
    activate_no_other: LiteralString
    mark_incomplete: LiteralString
    adopt_default: LiteralString
    remove: LiteralString
    workspace_size: LiteralString
    vector_counts: LiteralString
    documents: LiteralString
    incomplete_documents: LiteralString
    missing_chunks: LiteralString
    fill_vectors: LiteralString
    drop_vectors: LiteralString


class SpaceRows(Repository):
    """The embedding spaces of one workspace."""

    async def lock_workspace(self) -> None:
        """Locks out writers of chunks and vectors until the transaction ends. Take this lock first."""
        await self.connection.execute("SET LOCAL lock_timeout = '10s'")
        await self.connection.execute("SELECT pg_advisory_xact_lock(workspace_lock(%s))", (self.workspace_id,))

    async def spaces(self) -> list[SpaceRow]:
        """Returns the spaces in the order of their creation."""
        return await self.all(SpaceSql.all, SpaceRow)

    async def find(self, space_id: str) -> SpaceRow | None:
        return next((row for row in await self.spaces() if row.id == space_id), None)

    async def active(self) -> SpaceRow | None:
        """Returns the space that the workspace is searched in, if it has one."""
        return next((row for row in await self.spaces() if row.status is SpaceStatus.active), None)

    async def add(self, space: SpaceKey, status: SpaceStatus, *, activate: bool = False) -> bool:
        """Adds a space; returns False if it exists, or if it should be active and another one is."""
        values = {"id": space_id(*space), "status": status.value, "activate": activate}
        return await self.run(SpaceSql.add, **_key(space), **values) == 1

    async def change(self, row: SpaceRow, status: SpaceStatus, *, activate: bool = False) -> None:
        """Changes the status and clears the error, so that work on the space begins at once."""
        await self.run(SpaceSql.change, id=row.id, status=status.value, activate=activate)

    async def counts(self) -> tuple[int, dict[SpaceKey, int]]:
        """Returns (chunks of the workspace, vectors by space)."""
        cursor = await self.connection.execute(SpaceSql.vector_counts, self.bound)
        vectors = {(model, dims): count for model, dims, count in await cursor.fetchall()}
        return await self.value(SpaceSql.workspace_size) or 0, vectors

    async def is_complete(self, space: SpaceKey) -> bool:
        """Returns whether every chunk has a vector."""
        return not await self.missing_chunks(space, 0, 1)

    async def missing_chunks(self, space: SpaceKey, after: int, limit: int) -> list[MissingChunk]:
        """Returns the next chunks without a vector, in the order of their numbers."""
        return await self.all(SpaceSql.missing_chunks, MissingChunk, **_key(space), after=after, limit=limit)

    async def fill(self, space: SpaceKey, numbers: Sequence[int], embeddings: str) -> None:
        """Writes vectors of chunks that still exist; their documents are locked."""
        await self.run(SpaceSql.fill_vectors, model=space[0], numbers=list(numbers), embeddings=embeddings)

    async def documents(self, document_ids: Sequence[UUID], space: SpaceKey) -> list[DocumentIndexed]:
        """Returns the given documents with the counts of their chunks and vectors, in the order given."""
        return await self.all(SpaceSql.documents, DocumentIndexed, **_key(space), document_ids=list(document_ids))


def _key(space: SpaceKey) -> dict[str, object]:
    return {"model": space[0], "dims": space[1]}


async def ensure_vector_index(connection: Connection, model: str, dims: int) -> str:
    """Creates the HNSW index of an embedding space if it is missing; returns its name. This may take long."""
    await connection.execute("SET LOCAL statement_timeout = 0")
    async with connection.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("SELECT ensure_vector_index(%s, %s)", (model, dims))
        return str(await cursor.fetchone())
