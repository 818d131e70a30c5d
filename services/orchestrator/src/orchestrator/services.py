"""Clients of the services that the orchestrator calls over HTTP on behalf of its caller. All raise ServiceSilent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import httpx2

from contracts.artifacts import ARTIFACT_DOCUMENTS_PATH
from contracts.base import Page, ProblemBody, Resource
from contracts.graph_tools import AnswerQuestion, StructuralAnswer, ToolResult
from contracts.ingestion import DocumentStatus, UploadedFile
from contracts.memory import MemoryProfile, RecallRequest, RecallResponse
from contracts.openai_embeddings import EmbeddingList, EmbeddingRequest
from contracts.registry import ORCHESTRATOR
from contracts.retrieval import SearchRequest, SearchResponse
from contracts.world import World, WorldOperation, WorldOperations
from service_kit.auth import Principal, ServiceCaller
from service_kit.http_service import HttpService


class RetrievalService(HttpService):
    async def search(self, caller: Principal, request: SearchRequest) -> SearchResponse:
        return await self.fetch(caller, "POST", "/v1/search", SearchResponse, request)

    async def embedded(self, caller: Principal, texts: Sequence[str]) -> EmbeddingList:
        """Returns vectors of the default model for documents."""
        request = EmbeddingRequest(model="attractor", input=list(texts))
        return await self.fetch(caller, "POST", "/v1/embeddings", EmbeddingList, request)


class GraphService(HttpService):
    async def answer(self, caller: Principal, question: AnswerQuestion) -> ToolResult[StructuralAnswer] | None:
        """Returns the graph's answer, or why it has none; None if the deployment has no graph."""
        if not self.is_there:
            return None
        path, answer = "/v1/graph/tools/answer_question", ToolResult[StructuralAnswer]
        return await self.fetch(caller, "POST", path, answer, question)


class WorldChangeRefused(Exception):
    """The world state does not allow the change; the message says why."""


class MemoryService(HttpService):
    async def recall(self, caller: Principal, request: RecallRequest) -> RecallResponse:
        return await self.fetch(caller, "POST", "/v1/memories/recall", RecallResponse, request)

    async def world(self, caller: Principal, session_id: UUID | None) -> World:
        """Returns the world state of the session, or the workspace's."""
        return await self.fetch(caller, "GET", f"/v1/world{_of(session_id)}", World)

    async def try_out(self, caller: Principal, operations: Sequence[WorldOperation], session_id: UUID | None) -> World:
        """Returns the world state as it would be after the operations. Raises WorldChangeRefused."""
        asked = WorldOperations(operations=list(operations), dry_run=True)
        path = f"/v1/world/operations{_of(session_id)}"
        answer = await self.ask(caller, "POST", path, json=asked.model_dump(mode="json", exclude_unset=True))
        if answer.status_code in (409, 422):
            raise WorldChangeRefused(self.parse(answer, ProblemBody).detail)
        return self.parse(self.successful(answer), World)

    async def profile(self, caller: Principal, token_budget: int) -> MemoryProfile:
        return await self.fetch(caller, "GET", f"/v1/memories/profile?token_budget={token_budget}", MemoryProfile)


def _of(session_id: UUID | None) -> str:
    return "" if session_id is None else f"?session_id={session_id}"


class AwaitedDocument(Resource):
    """The fields of a document that show whether it can be searched."""

    id: UUID
    name: str
    status: DocumentStatus
    searchable_version: int | None = None

    @property
    def is_unread(self) -> bool:
        """Returns whether no version of it is searchable yet, but one will be."""
        return self.searchable_version is None and self.status is DocumentStatus.processing


class IngestionService(HttpService):
    async def listed(self, caller: Principal, document_ids: Sequence[UUID]) -> list[AwaitedDocument]:
        """Returns the documents that exist, of at most a hundred."""
        query = "&".join(f"ids={document_id}" for document_id in document_ids)
        place = f"/v1/documents?limit={len(document_ids)}&{query}"
        return (await self.fetch(caller, "GET", place, Page[AwaitedDocument])).items

    async def with_bytes(self, caller: Principal, content_hash: str) -> AwaitedDocument | None:
        """Returns the document whose bytes have this SHA-256 (hex), None if there is none."""
        place = f"/v1/documents?limit=1&content_hash={content_hash}"
        return next(iter((await self.fetch(caller, "GET", place, Page[AwaitedDocument])).items), None)

    async def awaited(self, caller: Principal, document_id: UUID, seconds: float) -> AwaitedDocument | None:
        """Returns the document once it is searchable or has failed, or after `seconds`; None if it no longer exists."""
        answer = await self.ask(caller, "GET", f"/v1/documents/{document_id}?wait=searchable&timeout={seconds:g}")
        return None if answer.status_code == 404 else self.parse(self.successful(answer), AwaitedDocument)

    async def has_document(self, caller: Principal, document_id: UUID) -> bool:
        answer = await self.ask(caller, "GET", f"/v1/documents/{document_id}")
        if answer.status_code == 404:
            return False
        self.successful(answer)
        return True

    async def put_artifact(self, workspace_id: UUID, artifact_id: UUID, name: str, text: str) -> UploadedFile:
        """Stores the text as the artifact's document, or as a new version of it."""
        caller = ServiceCaller(ORCHESTRATOR, workspace_id)
        files = {"file": (name, text.encode(), "application/octet-stream")}
        answer = await self.ask(caller, "PUT", f"{ARTIFACT_DOCUMENTS_PATH}/{artifact_id}", files=files)
        return self.parse(self.successful(answer), UploadedFile)

    async def delete_artifact(self, workspace_id: UUID, artifact_id: UUID) -> None:
        """Deletes the artifact's document, if there is one."""
        caller = ServiceCaller(ORCHESTRATOR, workspace_id)
        self.successful(await self.ask(caller, "DELETE", f"{ARTIFACT_DOCUMENTS_PATH}/{artifact_id}"))

    async def markdown(self, caller: Principal, document_id: UUID) -> str | None:
        """Returns the text of a document, None if there is none."""
        answer = await self.ask(caller, "GET", f"/v1/documents/{document_id}/markdown")
        return None if answer.status_code == 404 else self.successful(answer).text

    @asynccontextmanager
    async def original(self, caller: Principal, document_id: UUID) -> AsyncIterator[httpx2.Response]:
        """Opens a document's file as it was uploaded; the response's status is 404 if there is none."""
        answer = await self.open(caller, f"/v1/documents/{document_id}/original")
        try:
            yield answer if answer.status_code == 404 else self.successful(answer)
        finally:
            await answer.aclose()
