"""The commands `rebuild` and `verify`: make Neo4j anew from the truth, and compare what was made from it with it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from uuid import UUID

from knowledge_graph.graph_store import EntityFilter, GraphStore
from knowledge_graph.neo4j.connection import CYPHER, Neo4jConnection
from knowledge_graph.neo4j.rebuilding import remove_workspace
from knowledge_graph.neo4j.store import Neo4jStore
from knowledge_graph.projection.projector import CHANNEL, Projector
from knowledge_graph.recording.recount import recount, wrong_sums
from knowledge_graph.settings import ProjectionSettings
from knowledge_graph.store.postgres import QUERIES, PostgresStore
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
    """Draws the workspace, or all, anew; those of which no document is left are removed.

    Reads go to PostgreSQL until a workspace is drawn.
    """
    projector = Projector(database, neo4j, Outbox("knowledge-graph"))
    await projector.create_schema()
    async with database.system() as connection:
        cursor = await connection.execute(QUERIES["queue_workspaces"], {"workspace_id": workspace_id})
        queued = {row[0] for row in await cursor.fetchall()}
    async with database.system() as connection:
        # No projector may draw what is removed.
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (CHANNEL,))
        for shown in {workspace_id} if workspace_id else set(await _shown(neo4j)):
            if shown not in queued:
                await remove_workspace(neo4j, shown)
    while await _waiting(database, workspace_id):
        if not await projector.project_batch():
            await asyncio.sleep(BUSY_SECONDS)  # a running service is at it


async def differences(database: Database, neo4j: Neo4jConnection) -> dict[UUID, list[str]]:
    """By workspace the counts and sampled content that differ; those still being projected are left out."""
    postgres = PostgresStore(database)
    shown = Neo4jStore(neo4j, postgres)
    async with database.system() as connection:
        cursor = await connection.execute("SELECT DISTINCT workspace_id FROM graphed_document")
        workspaces: set[UUID] = {row[0] for row in await cursor.fetchall()}
        cursor = await connection.execute("SELECT DISTINCT workspace_id FROM projection_queue")
        waiting = {row[0] for row in await cursor.fetchall()}
    workspaces |= set(await _shown(neo4j))
    found = {}
    for workspace_id in sorted(workspaces - waiting):
        truth, picture = await _sample(postgres, workspace_id), await _sample(shown, workspace_id)
        if parts := [part for part in truth if truth[part] != picture[part]]:
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
    """First the sums in PostgreSQL, which Neo4j is drawn from."""
    settings = ProjectionSettings()
    async with Database(settings.database_url.get_secret_value(), 3).opened() as database:
        is_right = await verify_sums(database, repair=repair)
    if settings.neo4j_url is not None:
        await _with_stores(lambda database, neo4j: _report(database, neo4j, repair=repair))
    if not is_right:
        sys.exit(1)


async def verify_sums(database: Database, *, repair: bool) -> bool:
    """Whether all workspaces' sums are what their provenance adds up to, after the repair if there is one; says what
    was wrong."""
    async with database.system() as connection:
        cursor = await connection.execute("SELECT DISTINCT workspace_id FROM graphed_document")
        workspaces = sorted(row[0] for row in await cursor.fetchall())
    is_right, lines = True, []
    for workspace_id in workspaces:
        wrong = await (recount if repair else wrong_sums)(database, workspace_id)
        if wrong:
            lines.append(f"{workspace_id}: {wrong} differ from the provenance" + (", counted anew" if repair else ""))
            is_right = is_right and repair and not await wrong_sums(database, workspace_id)
    if not is_right:
        lines.append("still different" if repair else "run verify --repair")
    sys.stdout.write("\n".join(lines or ["PostgreSQL's sums are what the provenance adds up to"]) + "\n")
    return is_right


async def _report(database: Database, neo4j: Neo4jConnection, *, repair: bool) -> None:
    found = await differences(database, neo4j)
    lines = [f"{workspace_id}: {', '.join(parts)} differ" for workspace_id, parts in found.items()]
    if found and repair:
        for workspace_id in found:
            await rebuild(database, neo4j, workspace_id)
        lines.append(f"{len(found)} drawn anew")
        found = await differences(database, neo4j)
    if found:
        lines.append("still different" if repair else "run verify --repair")
    sys.stdout.write("\n".join(lines or ["Neo4j shows what PostgreSQL holds"]) + "\n")
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


async def _shown(neo4j: Neo4jConnection) -> list[UUID]:
    return [UUID(row["workspace_id"]) for row in await neo4j.statement(CYPHER["workspaces"])]


async def _waiting(database: Database, workspace_id: UUID | None) -> bool:
    async with database.system() as connection:
        cursor = await connection.execute(
            "SELECT EXISTS (SELECT FROM projection_queue WHERE %(of)s::uuid IS NULL OR workspace_id = %(of)s::uuid)",
            {"of": workspace_id},
        )
        return bool((await cursor.fetchone() or (False,))[0])
