"""The other services that the orchestrator asks, over HTTP, in the name of its caller."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from contracts.memory import RecallRequest, RecallResponse
from contracts.retrieval import SearchRequest, SearchResponse
from service_kit.auth import Principal
from service_kit.http_service import HttpService, ServiceSilent


class Retrieval(Protocol):
    async def search(self, caller: Principal, request: SearchRequest) -> SearchResponse:
        """Raises ServiceSilent."""
        ...


class Memory(Protocol):
    async def recall(self, caller: Principal, request: RecallRequest) -> RecallResponse:
        """Raises ServiceSilent."""
        ...


class Documents(Protocol):
    async def has(self, caller: Principal, document_id: UUID) -> bool:
        """Returns whether the caller's workspace has the document. Raises ServiceSilent."""
        ...


class HttpRetrieval(HttpService):
    async def search(self, caller: Principal, request: SearchRequest) -> SearchResponse:
        """Raises ServiceSilent."""
        return await self.fetch(caller, "POST", "/v1/search", SearchResponse, request)


class HttpMemory(HttpService):
    async def recall(self, caller: Principal, request: RecallRequest) -> RecallResponse:
        """Raises ServiceSilent."""
        return await self.fetch(caller, "POST", "/v1/memories/recall", RecallResponse, request)


class HttpDocuments(HttpService):
    async def has(self, caller: Principal, document_id: UUID) -> bool:
        """Raises ServiceSilent."""
        answer = await self.ask(caller, "GET", f"/v1/documents/{document_id}")
        if answer.status_code == 404:
            return False
        if not answer.is_success:
            raise ServiceSilent(f"{self.name} answered with status {answer.status_code}")
        return True
