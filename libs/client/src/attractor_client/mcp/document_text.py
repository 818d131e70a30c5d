"""The text of a document."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from attractor_client.client import AttractorClient
from attractor_client.http.transport import path


@dataclass(frozen=True)
class DocumentText:
    """A document's name and its whole text as Markdown."""

    name: str
    content: str


async def document_text(client: AttractorClient, document_id: UUID) -> DocumentText:
    """Returns the converted text. Raises NotFound, or Conflict while the document is not converted."""
    document = await client.documents.get(document_id)
    answer = await client.transport.send("GET", path("v1/documents", document_id, "markdown"))
    return DocumentText(document.name, answer.text)
