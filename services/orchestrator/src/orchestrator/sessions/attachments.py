"""Attaches documents to sessions, after asking ingestion whether they exist."""

from __future__ import annotations

from uuid import UUID

from contracts.orchestrator import SessionDocument
from orchestrator.errors import TooManySessionDocuments, UnknownDocument
from orchestrator.services import IngestionService
from orchestrator.sessions.repository import AttachedDocuments, CallerSessions
from service_kit.auth import Principal
from service_kit.postgres import Database
from service_kit.problems import Problem

MOST_DOCUMENTS = 1_000  # in a session; a search in it sends all their ids at once


class DocumentAttacher:
    """Attaches documents of the caller's workspace to the caller's sessions."""

    def __init__(self, database: Database, ingestion: IngestionService) -> None:
        self.database, self.ingestion = database, ingestion

    async def attach(self, caller: Principal, session_id: UUID, document_id: UUID) -> SessionDocument:
        """Changes nothing if the document is attached already.

        Raises SessionNotFound, TooManySessionDocuments, UnknownDocument; ServiceSilent if ingestion does not answer.
        """
        async with self.database.workspace(caller.workspace_id) as connection:
            count = await CallerSessions(connection, caller).lock(session_id)
            attached = await AttachedDocuments(connection, caller.workspace_id).attach(session_id, document_id)
            if attached.is_new and count >= MOST_DOCUMENTS:
                raise TooManySessionDocuments(f"A session has at most {MOST_DOCUMENTS:,} documents")
        if attached.is_new:
            await self._check(caller, session_id, document_id)
        return SessionDocument(document_id=attached.document_id, attached_at=attached.attached_at)

    async def _check(self, caller: Principal, session_id: UUID, document_id: UUID) -> None:
        """Detaches a document that does not exist.

        It is attached first, so that a deletion announced after the check finds the attachment.
        """
        try:
            if not await self.ingestion.has_document(caller, document_id):
                raise UnknownDocument
        except Problem:
            async with self.database.workspace(caller.workspace_id) as connection:
                await AttachedDocuments(connection, caller.workspace_id).detach(session_id, document_id)
            raise
