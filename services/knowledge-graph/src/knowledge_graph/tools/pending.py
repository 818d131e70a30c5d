"""Asks ingestion for the documents that the graph lacks: only ingestion knows those whose events were not read yet."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from uuid import UUID

from contracts.ingestion import UNGRAPHED_PATH, UngraphedDocuments
from contracts.registry import KNOWLEDGE_GRAPH
from service_kit.auth import ServiceCaller
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

log = logging.getLogger(__name__)
ANSWER_SECONDS = 1.0


@dataclass(frozen=True)
class PendingDocuments:
    """The documents that are on their way into the graph."""

    ingestion: HttpService

    async def count(self, workspace_id: UUID) -> int | None:
        """Returns how many there are in the workspace; None if ingestion does not answer."""
        caller = ServiceCaller(KNOWLEDGE_GRAPH, workspace_id)
        try:
            return (await self.ingestion.fetch(caller, "GET", UNGRAPHED_PATH, UngraphedDocuments)).documents
        except ServiceSilent as error:
            log.warning("whether the graph has all documents is not known: %s", error)
            return None
