"""Asks the owning services over HTTP whether a deletion is genuine, on behalf of the service that would erase data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from contracts.events import DocumentDeleted, Event, SessionDeleted
from contracts.gateway import WorkspaceState
from contracts.ingestion import DeletedDocuments, DocumentIds
from contracts.orchestrator import DeletedSessions, SessionIds
from contracts.registry import GATEWAY, INGESTION, ORCHESTRATOR
from service_kit.admission import Owner
from service_kit.auth import ServiceCaller
from service_kit.http_service import HttpService, service_client
from service_kit.tokens import Tokens

ANSWER_SECONDS = 5.0
WORKSPACE_PATH = "/internal/workspace"
DOCUMENTS_PATH = "/internal/deleted-documents"
SESSIONS_PATH = "/internal/deleted-sessions"
SESSION_USERS_PATH = "/internal/session-users"


@asynccontextmanager
async def deletion_owners(
    name: str,
    tokens: Tokens,
    gateway_url: str,
    ingestion_url: str | None = None,
    orchestrator_url: str | None = None,
) -> AsyncIterator[dict[str, Owner]]:
    """Opens connections to the owners, by name; `name` is the service that asks.

    Without `ingestion_url`, deletions of documents cannot be confirmed and are not handled; without `orchestrator_url`,
    those of sessions.
    """
    async with service_client() as client:
        gateway = HttpService(GATEWAY, client, tokens, gateway_url, ANSWER_SECONDS)
        owners: dict[str, Owner] = {GATEWAY: WorkspaceOwner(name, gateway)}
        if ingestion_url is not None:
            owners[INGESTION] = DocumentOwner(
                name, HttpService(INGESTION, client, tokens, ingestion_url, ANSWER_SECONDS)
            )
        if orchestrator_url is not None:
            owners[ORCHESTRATOR] = SessionOwner(
                name, HttpService(ORCHESTRATOR, client, tokens, orchestrator_url, ANSWER_SECONDS)
            )
        yield owners


@dataclass(frozen=True)
class WorkspaceOwner:
    """The gateway, which keeps a row of every deleted workspace forever."""

    name: str
    gateway: HttpService

    async def __call__(self, events: Sequence[Event]) -> list[bool]:
        caller = ServiceCaller(self.name, events[0].workspace_id)
        state = await self.gateway.fetch(caller, "GET", WORKSPACE_PATH, WorkspaceState)
        return [state.is_deleted for _ in events]


@dataclass(frozen=True)
class DocumentOwner:
    """Ingestion, which keeps a row of every deleted document as long as its workspace exists."""

    name: str
    ingestion: HttpService

    async def __call__(self, events: Sequence[Event]) -> list[bool]:
        caller = ServiceCaller(self.name, events[0].workspace_id)
        ids = [DocumentDeleted.model_validate(event.data).document_id for event in events]
        answer = await self.ingestion.fetch(
            caller, "POST", DOCUMENTS_PATH, DeletedDocuments, DocumentIds(document_ids=ids)
        )
        deleted = set(answer.deleted)
        return [document_id in deleted for document_id in ids]


@dataclass(frozen=True)
class SessionOwner:
    """The orchestrator, which keeps a row of every deleted session as long as its workspace exists."""

    name: str
    orchestrator: HttpService

    async def __call__(self, events: Sequence[Event]) -> list[bool]:
        caller = ServiceCaller(self.name, events[0].workspace_id)
        ids = [SessionDeleted.model_validate(event.data).session_id for event in events]
        answer = await self.orchestrator.fetch(
            caller, "POST", SESSIONS_PATH, DeletedSessions, SessionIds(session_ids=ids)
        )
        deleted = set(answer.deleted)
        return [session_id in deleted for session_id in ids]
