"""The commands `rebuild` and `verify`: rebuild the projection from the tables, and compare sums and projection."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from uuid import UUID

from knowledge_graph.graph_store import EntityFilter, GraphStore
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.neo4j.projection import Neo4jProjection
from knowledge_graph.neo4j.store import Neo4jStore
from knowledge_graph.projection.projector import Projector
from knowledge_graph.projection.queue import ProjectionQueue, ProjectionQueues
from knowledge_graph.recording.recount import WrongSums, recount, wrong_sums
from knowledge_graph.settings import ProjectionSettings
from knowledge_graph.store.postgres import PostgresStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

SAMPLED_ENTITIES, SAMPLED_ROWS = 100, 50
BUSY_SECONDS = 1.0


def rebuild_command(workspace_id: UUID | None) -> None:
    """python -m knowledge_graph rebuild [--workspace ID]"""
    asyncio.run(_with_stores(lambda database, neo4j: rebuild(database, neo4j, workspace_id)))


def verify_command(*, repair: bool) -> None:
    """python -m knowledge_graph verify [--repair]: exits with 1 when sums or stores differ, after a repair too."""
    asyncio.run(_verify(repair=repair))


async def rebuild(database: Database, neo4j: Neo4jConnection, workspace_id: UUID | None = None) -> None:
    """Rebuilds the projection of the workspace, or of all; deletes workspaces that have no documents left.

    Until a workspace is rebuilt, reads go to PostgreSQL.
    """
    projection = Neo4jProjection(neo4j)
    projector = Projector(database, projection, Outbox("knowledge-graph"))
    await projection.prepare()
    async with database.system() as connection:
        queued = await ProjectionQueues(connection).add_workspaces(workspace_id)
    async with database.system() as connection:
        # No projector may write what is deleted.
        await ProjectionQueues(connection).lock()
        for projected in {workspace_id} if workspace_id else await projection.workspaces():
            if projected not in queued:
                await projection.delete_workspace(projected)
    while not await _is_empty(database, workspace_id):
        if not await projector.project_batch():
            await asyncio.sleep(BUSY_SECONDS)  # a running service is projecting


async def differences(database: Database, neo4j: Neo4jConnection) -> dict[UUID, list[str]]:
    """Returns differing counts and sampled contents by workspace, except where the graph changes meanwhile."""
    postgres = PostgresStore(database)
    projected = Neo4jStore(neo4j, postgres)
    async with database.system() as connection:
        queues = ProjectionQueues(connection)
        workspaces = await queues.graphed_workspaces()
    workspaces |= await Neo4jProjection(neo4j).workspaces()
    found = {}
    for workspace_id in sorted(workspaces):
        truth = await _sample(postgres, workspace_id)
        async with database.system() as connection:
            if workspace_id in await ProjectionQueues(connection).workspaces():
                continue  # only what was read before this is projected
        copy = await _sample(projected, workspace_id)
        parts = [part for part in truth if truth[part] != copy[part]]
        if parts and truth == await _sample(postgres, workspace_id):
            found[workspace_id] = parts
    return found


async def _sample(store: GraphStore, workspace_id: UUID) -> dict[str, object]:
    entities = await store.list_entities(workspace_id, EntityFilter(limit=SAMPLED_ENTITIES))
    ids = sorted(entity.id for entity in entities)
    return {
        "counts": await store.counts(workspace_id),
        "degrees": await store.top(workspace_id, "degree", None, SAMPLED_ENTITIES),
        "entities": entities,
        "relations": [await store.relations_of(workspace_id, entity, SAMPLED_ROWS) for entity in ids],
        "mentions": await store.chunks_of(workspace_id, ids, SAMPLED_ROWS),
    }


async def _verify(*, repair: bool) -> None:
    """Checks sums and projection; sums first, because Neo4j is projected from them."""
    settings = ProjectionSettings()
    async with Database(settings.database_url.get_secret_value(), 3).opened() as database:
        is_right = await verify_sums(database, repair=repair)
    if settings.neo4j_url is not None:
        await _with_stores(lambda database, neo4j: _report(database, neo4j, repair=repair))
    if not is_right:
        sys.exit(1)


async def verify_sums(database: Database, *, repair: bool) -> bool:
    """Returns whether the sums of all workspaces are right, after the repair if there is one; prints what was wrong."""
    async with database.system() as connection:
        workspaces = sorted(await ProjectionQueues(connection).graphed_workspaces())
    is_right, lines = True, []
    for workspace_id in workspaces:
        wrong = await (corrected if repair else wrong_sums)(database, workspace_id)
        if wrong:
            lines.append(f"{workspace_id}: {wrong} differ from the provenance" + (", corrected" if repair else ""))
            is_right = is_right and repair and not await wrong_sums(database, workspace_id)
    if not is_right:
        lines.append("still different" if repair else "run verify --repair")
    sys.stdout.write("\n".join(lines or ["PostgreSQL's sums match the provenance"]) + "\n")
    return is_right


async def corrected(database: Database, workspace_id: UUID) -> WrongSums:
    """Corrects wrong sums and queues the workspace for a full projection; returns what was wrong."""
    async with database.workspace(workspace_id) as connection:
        wrong = await recount(connection, workspace_id)
        if wrong:
            await ProjectionQueue(connection, workspace_id).add_workspace()
    return wrong


async def _report(database: Database, neo4j: Neo4jConnection, *, repair: bool) -> None:
    found = await differences(database, neo4j)
    lines = [f"{workspace_id}: {', '.join(parts)} differ" for workspace_id, parts in found.items()]
    if found and repair:
        for workspace_id in found:
            await rebuild(database, neo4j, workspace_id)
        lines.append(f"{len(found)} rebuilt")
        found = await differences(database, neo4j)
    if found:
        lines.append("still different" if repair else "run verify --repair")
    sys.stdout.write("\n".join(lines or ["The projection matches PostgreSQL"]) + "\n")
    if found:
        sys.exit(1)


async def _with_stores(work: Callable[[Database, Neo4jConnection], Awaitable[None]]) -> None:
    settings = ProjectionSettings()
    if settings.neo4j_url is None:
        sys.exit("knowledge_graph: NEO4J_URL is not set: there is no projection")
    neo4j = Neo4jConnection(settings)
    try:
        async with Database(settings.database_url.get_secret_value(), 3).opened() as database:
            await work(database, neo4j)
    finally:
        await neo4j.aclose()


async def _is_empty(database: Database, workspace_id: UUID | None) -> bool:
    async with database.system() as connection:
        return await ProjectionQueues(connection).is_empty(workspace_id)
