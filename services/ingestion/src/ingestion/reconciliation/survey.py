"""Reads the contents of each store for a workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import LiteralString, TypeVar
from uuid import UUID

import httpx2

from contracts.base import Page
from contracts.knowledge_graph import GraphedDocument
from contracts.registry import INGESTION, KNOWLEDGE_GRAPH, RETRIEVAL
from contracts.retrieval import IndexedDocument
from ingestion.reconciliation.drift import DocumentAtService, KeptVersion, RecordedDocument, Survey
from service_kit.auth import ServiceCaller
from service_kit.objects import ObjectStore
from service_kit.postgres import Database
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements
from service_kit.tokens import Tokens

T = TypeVar("T")
PAGE = 200


class SurveySql(Statements, file="survey.sql"):
    workspaces: LiteralString
    documents: LiteralString
    versions: LiteralString
    deletions: LiteralString


class Surveyor:
    """Surveys all stores. It calls `retrieval_url` and `graph_url` as the service, not for a user."""

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
        """Returns the workspaces that have documents, deletions or objects."""
        async with self.database.system() as connection:
            found = set(await SystemRepository(connection).values(SurveySql.workspaces))
        prefixes = await asyncio.to_thread(self.objects.folders)
        for prefix in prefixes:
            try:
                found.add(UUID(prefix))
            except ValueError:
                continue  # not a workspace's prefix
        return sorted(found)

    async def survey(self, workspace_id: UUID) -> Survey:
        """Reads the other stores first: anything added to them later belongs to documents too new to compare.

        Raises httpx2.HTTPError if a service does not respond, Unavailable if a store does not.
        """
        index = {
            one.document_id: DocumentAtService(one.version, one.chunk_count)
            async for one in self._pages(
                RETRIEVAL, f"{self.retrieval_url}/v1/index/documents", Page[IndexedDocument], workspace_id
            )
        }
        graph = {
            one.document_id: DocumentAtService(one.version)
            async for one in self._pages(
                KNOWLEDGE_GRAPH, f"{self.graph_url}/v1/graph/documents", Page[GraphedDocument], workspace_id
            )
        }
        objects = await asyncio.to_thread(self.objects.ages, f"{workspace_id}/")
        async with self.database.workspace(workspace_id) as connection:
            tables = Repository(connection, workspace_id)
            documents = await tables.all(SurveySql.documents, RecordedDocument)
            versions = await tables.all(SurveySql.versions, KeptVersion)
            deleting = await tables.values(SurveySql.deletions)
        return Survey(
            documents={document.id: document for document in documents},
            versions=versions,
            deleting=set(deleting),
            index=index,
            graph=graph,
            objects=objects,
        )

    async def _pages(self, service: str, url: str, kind: type[Page[T]], workspace_id: UUID) -> AsyncIterator[T]:
        cursor: str | None = None
        while True:
            token = self.tokens.sign(ServiceCaller(INGESTION, workspace_id), service)
            params = {"limit": PAGE} | ({"cursor": cursor} if cursor else {})
            response = await self.http.get(url, params=params, headers={"Authorization": f"Bearer {token}"})
            response.raise_for_status()
            page = kind.model_validate_json(response.content)
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return
