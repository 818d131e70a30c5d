"""Reads what each store holds of a workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar
from uuid import UUID

import httpx2
from psycopg.rows import class_row

from contracts.base import Page
from contracts.gateway import Role
from contracts.knowledge_graph import GraphedDocument
from contracts.retrieval import IndexedDocument
from ingestion.reconciliation.drift import Held, Known, Survey
from ingestion.statements import SQL
from service_kit.auth import Principal, Tokens
from service_kit.objects import ObjectStore
from service_kit.postgres import Database

T = TypeVar("T")
PAGE = 200
NOBODY = UUID(int=0)  # no user asks


class Surveyor:
    """`retrieval_url` and `graph_url` are asked with a token that the deployment's services accept."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        http: httpx2.AsyncClient,
        tokens: Tokens,
        retrieval_url: str,
        graph_url: str,
    ) -> None:
        self.database, self.objects, self.http, self.tokens = database, objects, http, tokens
        self.retrieval_url, self.graph_url = retrieval_url, graph_url

    async def workspaces(self) -> list[UUID]:
        """Those that have documents, deletions or objects."""
        async with self.database.system() as connection:
            rows = await (await connection.execute(SQL["reconcile_workspaces"])).fetchall()
        prefixes = await asyncio.to_thread(self.objects.folders)
        found = {row[0] for row in rows}
        for prefix in prefixes:
            try:
                found.add(UUID(prefix))
            except ValueError:
                continue  # not ours
        return sorted(found)

    async def survey(self, workspace_id: UUID) -> Survey:
        """The other stores first: what appears in them later belongs to documents that are too young to compare.

        Raises httpx2.HTTPError when a service does not answer, Unavailable when a store is away.
        """
        index = {
            one.document_id: Held(one.version, one.chunk_count)
            async for one in self._pages(
                f"{self.retrieval_url}/v1/index/documents", Page[IndexedDocument], workspace_id
            )
        }
        graph = {
            one.document_id: Held(one.version)
            async for one in self._pages(f"{self.graph_url}/v1/graph/documents", Page[GraphedDocument], workspace_id)
        }
        objects = await asyncio.to_thread(self.objects.ages, f"{workspace_id}/")
        key = {"workspace_id": workspace_id}
        async with self.database.workspace(workspace_id) as connection:
            async with connection.cursor(row_factory=class_row(Known)) as cursor:
                await cursor.execute(SQL["reconcile_documents"], key)
                documents = {document.id: document async for document in cursor}
            kept = await (await connection.execute(SQL["reconcile_versions"], key)).fetchall()
            deleting = await (await connection.execute(SQL["reconcile_deletions"], key)).fetchall()
        return Survey(
            documents=documents,
            kept={(row[0], row[1], row[2]) for row in kept},
            deleting={row[0] for row in deleting},
            index=index,
            graph=graph,
            objects=objects,
        )

    async def _pages(self, url: str, kind: type[Page[T]], workspace_id: UUID) -> AsyncIterator[T]:
        cursor: str | None = None
        while True:
            token = self.tokens.sign(Principal(NOBODY, workspace_id, Role.owner))
            params = {"limit": PAGE} | ({"cursor": cursor} if cursor else {})
            response = await self.http.get(url, params=params, headers={"Authorization": f"Bearer {token}"})
            response.raise_for_status()
            page = kind.model_validate_json(response.content)
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return
