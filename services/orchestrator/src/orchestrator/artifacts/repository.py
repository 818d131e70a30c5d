"""The artifacts of a workspace's sessions, and their versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from contracts.artifacts import ArtifactEvent, ArtifactKind, ArtifactOutcome, ArtifactVersion, ArtifactView
from contracts.base import Page
from orchestrator.artifacts.packing import CHAIN, packed, packed_changes, unpacked
from orchestrator.artifacts.proposal import ArtifactProposal
from orchestrator.errors import ArtifactVersionNotFound, NothingToRedo, NothingToUndo
from service_kit.pagination import decode_cursor, page
from service_kit.problems import PreconditionFailed
from service_kit.repository import Repository
from service_kit.statements import Statements

VERSION_COLUMNS = """made.index, made.parent_index, made.event, made.kind, made.language, made.title, made.created_by,
    made.run_id, made.message_id, made.created_at, made.document_id, made.outcome = 'kept_aside' AS kept_aside"""


class ArtifactSql(Statements, file="artifacts.sql", columns=VERSION_COLUMNS):
    use_session: str
    has_session: str
    read: str
    create: str
    insert_version: str
    advance: str
    move: str
    newest_child: str
    page: str
    run: str
    of_run: str
    count: str
    delete: str
    delete_of_documents: str
    showing_documents: str
    mark_indexed: str
    indexed: str
    forget_documents: str


@dataclass(frozen=True)
class StoredArtifact:
    """A stored version; its text is in `bodies`, those of the versions `whole_index` to `index`."""

    index: int
    parent_index: int | None
    event: ArtifactEvent
    kind: ArtifactKind
    language: str | None
    title: str | None
    created_by: UUID
    run_id: UUID | None
    message_id: UUID | None
    created_at: datetime
    document_id: UUID | None
    kept_aside: bool
    id: UUID
    session_id: UUID
    version: int
    current_index: int
    last_index: int
    indexed_document_id: UUID | None
    indexed_index: int | None
    updated_at: datetime
    citations: list[Any]
    whole_index: int
    bodies: list[bytes]

    def view(self) -> ArtifactView:
        stored = {name: value for name, value in vars(self).items() if name not in {"whole_index", "bodies"}}
        return ArtifactView(**stored, text=unpacked(self.bodies))


@dataclass(frozen=True)
class Authorship:
    """The author of a version; `run_id` and `message_id` are set for a run."""

    created_by: UUID
    run_id: UUID | None = None
    message_id: UUID | None = None


class ArtifactRepository(Repository):
    """The artifacts of a workspace, of all users. Call `use` before changing one."""

    async def use(self, session_id: UUID, user_id: UUID | None = None) -> bool:
        """Locks the session's artifact until the transaction ends; False if there is no such session (of the user)."""
        return await self.value(ArtifactSql.use_session, session_id=session_id, user_id=user_id) is not None

    async def has_session(self, session_id: UUID, user_id: UUID) -> bool:
        """Returns whether the user has this session."""
        return await self.value(ArtifactSql.has_session, session_id=session_id, user_id=user_id) is not None

    async def current(self, session_id: UUID) -> ArtifactView | None:
        """Returns the current version of the session's artifact, None if there is none."""
        stored = await self._read(session_id=session_id)
        return stored.view() if stored else None

    async def version(self, artifact_id: UUID, index: int) -> ArtifactView:
        """Returns the version. Raises ArtifactVersionNotFound."""
        stored = await self._read(artifact_id=artifact_id, index=index)
        if stored is None:
            raise ArtifactVersionNotFound
        return stored.view()

    async def versions(self, artifact_id: UUID, limit: int, cursor: str | None) -> Page[ArtifactVersion]:
        """Returns the versions, newest first, without their texts."""
        (before,) = decode_cursor(cursor, int)
        rows = await self.all(
            ArtifactSql.page, ArtifactVersion, artifact_id=artifact_id, before=before, limit=limit + 1
        )
        return page(rows, limit, lambda version: (version.index,))

    async def add(
        self,
        session_id: UUID,
        proposal: ArtifactProposal,
        author: Authorship,
        expected_version: int | None = None,
        outcome: ArtifactOutcome = ArtifactOutcome.current,
    ) -> ArtifactView:
        """Adds a version, or creates the artifact with it. Raises PreconditionFailed."""
        now = await self.current(session_id)
        check_version(now, expected_version)
        artifact_id, index = (now.id, now.last_index + 1) if now else (uuid4(), 1)
        if now is None:
            await self.run(ArtifactSql.create, id=artifact_id, session_id=session_id)
        whole_index, body = await self._packed(artifact_id, index, proposal.text)
        await self.run(
            ArtifactSql.insert_version,
            artifact_id=artifact_id,
            index=index,
            parent_index=proposal.base_index if now else None,
            event=proposal.event if now else ArtifactEvent.create,
            kind=proposal.kind,
            language=proposal.language,
            title=proposal.title,
            document_id=proposal.document_id,
            outcome=outcome,
            characters=len(proposal.text),
            citations=Jsonb([citation.model_dump(mode="json") for citation in proposal.citations]),
            whole_index=whole_index,
            body=body,
            **vars(author),
        )
        await self.run(
            ArtifactSql.advance, artifact_id=artifact_id, index=index, outcome=outcome, step=int(now is not None)
        )
        return await self.version(artifact_id, index)

    async def undo(self, view: ArtifactView) -> ArtifactView:
        """Makes the parent of the current version current. Raises NothingToUndo."""
        if view.parent_index is None:
            raise NothingToUndo
        return await self._move(view, view.parent_index)

    async def redo(self, view: ArtifactView) -> ArtifactView:
        """Makes the newest child of the current version current. Raises NothingToRedo."""
        child = await self.value(ArtifactSql.newest_child, artifact_id=view.id, index=view.current_index)
        if child is None:
            raise NothingToRedo
        return await self._move(view, child)

    async def delete(self, artifact_id: UUID) -> tuple[int, int]:
        """Deletes the artifact; returns how many versions there were and how many remain."""
        before = int(await self.value(ArtifactSql.count, artifact_id=artifact_id))
        await self.run(ArtifactSql.delete, artifact_id=artifact_id)
        return before, int(await self.value(ArtifactSql.count, artifact_id=artifact_id))

    async def delete_of_documents(self, document_ids: Sequence[UUID]) -> tuple[Counter[UUID], Counter[UUID]]:
        """Deletes the artifacts that show the documents; returns how many there were and how many remain, by document.

        An artifact that showed several of them is counted once.
        """
        of = {"document_ids": list(document_ids)}
        await self.run(ArtifactSql.forget_documents, **of)
        deleted = Counter(await self.values(ArtifactSql.delete_of_documents, **of))
        return deleted, Counter(await self.values(ArtifactSql.showing_documents, **of))

    async def mark_indexed(self, artifact_id: UUID, index: int, document_id: UUID) -> int | None:
        """Records the document that a version became; returns the artifact's version, None if it no longer exists."""
        version: int | None = await self.value(
            ArtifactSql.mark_indexed, artifact_id=artifact_id, index=index, document_id=document_id
        )
        return version

    async def indexed(self, session_id: UUID) -> UUID | None:
        """Returns the session's artifact if it has been indexed as a document."""
        artifact_id: UUID | None = await self.value(ArtifactSql.indexed, session_id=session_id)
        return artifact_id

    async def _move(self, view: ArtifactView, index: int) -> ArtifactView:
        await self.run(ArtifactSql.move, artifact_id=view.id, index=index)
        return await self.version(view.id, index)

    async def _read(
        self, *, session_id: UUID | None = None, artifact_id: UUID | None = None, index: int | None = None
    ) -> StoredArtifact | None:
        return await self.one(
            ArtifactSql.read, StoredArtifact, session_id=session_id, artifact_id=artifact_id, index=index
        )

    async def _packed(self, artifact_id: UUID, index: int, text: str) -> tuple[int, bytes]:
        """Returns the index at which the version's chain begins, and the body to store."""
        whole = packed(text)
        before = await self._read(artifact_id=artifact_id, index=index - 1) if index > 1 else None
        if before is None or index - before.whole_index >= CHAIN:
            return index, whole
        changed = packed_changes(unpacked(before.bodies), text)
        return (before.whole_index, changed) if 2 * len(changed) < len(whole) else (index, whole)


def check_version(now: ArtifactView | None, expected: int | None) -> None:
    """Raises PreconditionFailed if the artifact does not have the expected version, or does not exist."""
    if expected is None or (now is not None and now.version == expected):
        return
    if now is None:
        raise PreconditionFailed("The session has no artifact any more")
    raise PreconditionFailed(
        f"The artifact is now at version {now.version}", version=now.version, current_index=now.current_index
    )
