"""The command `extract`: extracts the documents of earlier versions again, by the rules of this one."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from uuid import UUID

from knowledge_graph.consumer import DocumentGraphs
from knowledge_graph.converted import SERVICE
from knowledge_graph.extraction.document import Methods
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.projection.queue import ProjectionQueues
from knowledge_graph.recording.provenance import GraphProvenance
from knowledge_graph.settings import ExtractionSettings
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

REPORTED = 100
"""How many documents a line of progress stands for."""


def extract_command(workspace_id: UUID | None) -> None:
    """python -m knowledge_graph extract [--workspace ID]"""
    asyncio.run(_extract(ExtractionSettings(), workspace_id))


async def _extract(settings: ExtractionSettings, workspace_id: UUID | None) -> None:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(settings.database_url.get_secret_value(), 3).opened())
        objects = ObjectStore(settings)
        stack.callback(objects.close)
        extractor = await stack.enter_async_context(Extractor(Methods(dependency=settings.graph_parser)))
        projects = settings.neo4j_url is not None
        graphs = DocumentGraphs(database, objects, extractor, Outbox(SERVICE), projects=projects)
        async with database.system() as connection:
            known = await ProjectionQueues(connection).graphed_workspaces()
        for one in sorted(known & {workspace_id} if workspace_id else known):
            done = await extract_again(graphs, one)
            sys.stdout.write(f"{one}: {done} documents extracted again\n")


async def extract_again(graphs: DocumentGraphs, workspace_id: UUID) -> int:
    """Extracts the workspace's documents from their stored chunks, one after the other; returns their number.

    The service may go on working, and the command can be repeated: each document is replaced in one transaction.
    """
    async with graphs.database.workspace(workspace_id) as connection:
        documents = await GraphProvenance(connection, workspace_id).extracted()
    for number, document_id in enumerate(documents, 1):
        await graphs.regraph(workspace_id, document_id)
        if number % REPORTED == 0:
            sys.stdout.write(f"{workspace_id}: {number} of {len(documents)}\n")
    return len(documents)
