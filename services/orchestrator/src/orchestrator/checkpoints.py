"""LangGraph's checkpoints in Postgres.

A migration makes its tables, with a workspace, which LangGraph does not know: it is the transaction's. A thread's id is
a run's id.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.postgres.base import PRUNE_DELETE_THREADS_SQL
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row

from service_kit.postgres import Database

FIRST_NODE = 1
"""The step of a graph's first node; earlier steps are the input and the initial state made from it."""


class RunSaver(AsyncPostgresSaver):
    """Stores one checkpoint for each node of a run, in one round trip.

    LangGraph also saves the state before the first node, and each node's writes before their checkpoint. The former is
    stored with the first node's checkpoint, since the run's row has it as well; the latter are not stored, since nodes
    run one after another and the checkpoint follows at once. The values of one checkpoint are one statement.
    """

    UPSERT_CHECKPOINT_BLOBS_SQL = """
        INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
        SELECT %s, %s, one.channel, one.version, one.type, one.blob
        FROM unnest(%s::text[], %s::text[], %s::text[], %s::bytea[]) AS one (channel, version, type, blob)
        ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING
    """

    def __init__(self, database: Database, workspace_id: UUID, *, is_new: bool) -> None:
        """`is_new`: nothing is stored for the thread yet, so that no lookup is needed."""
        super().__init__(cast("Any", database.pool), serde=_plain_values())
        self._database, self._workspace_id, self._is_new = database, workspace_id, is_new
        self._kept_back: dict[tuple[str, str], ChannelVersions] = {}

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """Opens a transaction of the workspace."""
        async with (
            self.lock,
            self._database.workspace(self._workspace_id, durable=False) as connection,
            AsyncExitStack() as stack,
        ):
            if pipeline:
                await stack.enter_async_context(connection.pipeline())
            async with connection.cursor(binary=True, row_factory=dict_row) as cursor:
                yield cursor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return None if self._is_new else await super().aget_tuple(config)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        configured = config["configurable"]
        place = configured["thread_id"], configured["checkpoint_ns"]
        changed = {**self._kept_back.pop(place, {}), **new_versions}
        if metadata["step"] < FIRST_NODE:
            self._kept_back[place] = changed
            return {"configurable": {**configured, "checkpoint_id": checkpoint["id"]}}
        self._is_new = False
        return await super().aput(config, checkpoint, metadata, changed)

    def _dump_blobs(self, thread_id: str, checkpoint_ns: str, values: dict[str, Any], versions: ChannelVersions) -> Any:
        """Returns the parameters of a single statement for all values."""
        rows = super()._dump_blobs(thread_id, checkpoint_ns, values, versions)
        return [(thread_id, checkpoint_ns, *([row[at] for row in rows] for at in range(2, 6)))]

    async def aput_writes(self, *_: Any, **__: Any) -> None:
        """Stores nothing."""

    def get_next_version(self, current: str | None, _: None) -> str:
        """Returns a number without LangGraph's random part, which distinguishes forks of a thread; a run has none."""
        return f"{int((current or '0').partition('.')[0]) + 1:08}"


class Checkpoints:
    """The savers of a process, which share one pool. A crash of PostgreSQL may lose the latest checkpoints."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def saver(self, workspace_id: UUID, *, is_new: bool = False) -> RunSaver:
        """Returns a saver for one attempt; a saver does one operation at a time, whatever the pool's size."""
        return RunSaver(self._database, workspace_id, is_new=is_new)

    async def delete(self, threads: Sequence[str]) -> None:
        """Deletes all checkpoints of the threads, which may be of several workspaces."""
        async with self._database.system(durable=False) as connection, connection.pipeline():
            for statement in PRUNE_DELETE_THREADS_SQL:
                await connection.execute(statement.encode(), (list(threads),))


@asynccontextmanager
async def opened(url: str, size: int) -> AsyncIterator[Checkpoints]:
    """Opens a separate pool for up to `size` concurrent savers."""
    async with Database(url, size).opened() as database:
        yield Checkpoints(database)


def _plain_values() -> JsonPlusSerializer:
    """Returns a serialiser that, unlike the default, imports and calls no type named in a row: states are JSON."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)
