"""Indexes a version of an artifact as a document of the workspace, which every member can search."""

from __future__ import annotations

from uuid import UUID

from contracts.artifacts import ArtifactKind, ArtifactView, IndexedArtifact
from orchestrator.artifacts.file_names import file_name
from orchestrator.artifacts.repository import ArtifactRepository
from orchestrator.errors import ArtifactIsADocument, ArtifactNotIndexed
from orchestrator.services import IngestionService
from service_kit.auth import Principal
from service_kit.postgres import Database


class ArtifactIndexing:
    """An artifact has at most one document; the next version that is indexed replaces it."""

    def __init__(self, database: Database, ingestion: IngestionService) -> None:
        self.database, self.ingestion = database, ingestion

    async def index(self, caller: Principal, view: ArtifactView) -> IndexedArtifact:
        """Indexes a version. Raises ArtifactIsADocument, ArtifactNotIndexed, ServiceSilent."""
        if view.kind is ArtifactKind.pdf:
            raise ArtifactIsADocument
        taken = await self.ingestion.put_artifact(caller.workspace_id, view.id, file_name(view), view.text)
        if taken.document is None:
            raise ArtifactNotIndexed(taken.message, reason=taken.error)
        async with self.database.workspace(caller.workspace_id) as connection:
            artifacts = ArtifactRepository(connection, caller.workspace_id)
            version = await artifacts.mark_indexed(view.id, view.index, taken.document.id)
        if version is None:  # deleted meanwhile
            await self.ingestion.delete_artifact(caller.workspace_id, view.id)
            raise ArtifactNotIndexed("the artifact was deleted in the meantime", reason="artifact-deleted")
        return IndexedArtifact(artifact_id=view.id, index=view.index, document_id=taken.document.id, version=version)

    async def forget(self, workspace_id: UUID, session_id: UUID) -> None:
        """Deletes the document of the session's artifact, if it has one. Raises ServiceSilent."""
        async with self.database.workspace(workspace_id) as connection:
            artifact_id = await ArtifactRepository(connection, workspace_id).indexed(session_id)
        if artifact_id is not None:
            await self.ingestion.delete_artifact(workspace_id, artifact_id)
