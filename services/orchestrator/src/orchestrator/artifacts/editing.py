"""Edits the artifact of a session by hand; each edit is one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from contracts.artifacts import (
    MOST_CHARACTERS,
    ArtifactDiff,
    ArtifactEvent,
    ArtifactKind,
    ArtifactPatch,
    ArtifactPut,
    ArtifactReceipt,
    ArtifactSpan,
    ArtifactVersion,
    ArtifactView,
)
from contracts.base import Page
from orchestrator.artifacts.citing import kept_citations
from orchestrator.artifacts.indexing import ArtifactIndexing
from orchestrator.artifacts.proposal import ArtifactProposal
from orchestrator.artifacts.repository import ArtifactRepository, Authorship, check_version
from orchestrator.artifacts.texts import EditsNotApplicable, apply_edits, diff, find_span, splice
from orchestrator.errors import (
    ArtifactNotEditable,
    ArtifactNotFound,
    ArtifactTooLong,
    EditsMisplaced,
    SessionNotFound,
    SpanLost,
    UnknownDocument,
)
from orchestrator.services import IngestionService
from service_kit.auth import Principal
from service_kit.postgres import Database


@dataclass(frozen=True)
class UsersArtifact:
    """The artifact of one of the user's sessions, in a transaction."""

    artifacts: ArtifactRepository
    session_id: UUID
    caller: Principal

    async def current(self) -> ArtifactView:
        """Returns the current version. Raises ArtifactNotFound."""
        view = await self.artifacts.current(self.session_id)
        if view is None:
            raise ArtifactNotFound
        return view

    async def changeable(self, expected: int | None) -> ArtifactView:
        """Returns the current version. Raises ArtifactNotFound, PreconditionFailed."""
        view = await self.current()
        check_version(view, expected)
        return view

    async def add(self, now: ArtifactView | None, proposal: ArtifactProposal) -> ArtifactView:
        """Returns the new version, or the current one if the proposal changes nothing. Raises ArtifactTooLong."""
        if len(proposal.text) > MOST_CHARACTERS:
            raise ArtifactTooLong(f"{len(proposal.text):,} characters, of at most {MOST_CHARACTERS:,}")
        if now is not None and not proposal.changes(now):
            return now
        return await self.artifacts.add(self.session_id, proposal, Authorship(self.caller.user_id))


class ArtifactEditing:
    """All methods raise SessionNotFound if the user has no such session."""

    def __init__(self, database: Database, ingestion: IngestionService, indexing: ArtifactIndexing) -> None:
        self.database, self.ingestion, self.indexing = database, ingestion, indexing

    @asynccontextmanager
    async def reading(self, caller: Principal, session_id: UUID) -> AsyncIterator[UsersArtifact]:
        async with self.database.workspace(caller.workspace_id) as connection:
            artifacts = ArtifactRepository(connection, caller.workspace_id)
            if not await artifacts.has_session(session_id, caller.user_id):
                raise SessionNotFound
            yield UsersArtifact(artifacts, session_id, caller)

    @asynccontextmanager
    async def changing(self, caller: Principal, session_id: UUID) -> AsyncIterator[UsersArtifact]:
        async with self.database.workspace(caller.workspace_id) as connection:
            artifacts = ArtifactRepository(connection, caller.workspace_id)
            if not await artifacts.use(session_id, caller.user_id):
                raise SessionNotFound
            yield UsersArtifact(artifacts, session_id, caller)

    async def read(self, caller: Principal, session_id: UUID, index: int | None = None) -> ArtifactView:
        """Returns the version, by default the current one. Raises ArtifactNotFound, ArtifactVersionNotFound."""
        async with self.reading(caller, session_id) as own:
            view = await own.current()
            return view if index in {None, view.index} else await own.artifacts.version(view.id, index or 0)

    async def versions(
        self, caller: Principal, session_id: UUID, limit: int, cursor: str | None
    ) -> Page[ArtifactVersion]:
        """Lists the versions. Raises ArtifactNotFound."""
        async with self.reading(caller, session_id) as own:
            return await own.artifacts.versions((await own.current()).id, limit, cursor)

    async def compare(
        self, caller: Principal, session_id: UUID, from_index: int | None, to_index: int | None
    ) -> ArtifactDiff:
        """Compares the version `to_index`, by default the current one, with another, by default its parent.

        A version without a parent is compared with an empty text. Raises ArtifactNotFound, ArtifactVersionNotFound.
        """
        async with self.reading(caller, session_id) as own:
            now = await own.current()
            after = now if to_index in {None, now.index} else await own.artifacts.version(now.id, to_index or 0)
            other = from_index if from_index is not None else after.parent_index
            before = await own.artifacts.version(now.id, other) if other is not None else None
        unified = await asyncio.to_thread(diff, before.text if before else "", after.text)
        marks = [line[:1] for line in unified.split("\n")]
        return ArtifactDiff(
            from_index=before.index if before else 0,
            to_index=after.index,
            added_lines=marks.count("+"),
            removed_lines=marks.count("-"),
            unified=unified,
        )

    async def put(
        self, caller: Principal, session_id: UUID, body: ArtifactPut, expected: int | None
    ) -> tuple[ArtifactView, bool]:
        """Creates the artifact, or adds a version; returns whether it is new.

        Raises PreconditionFailed, ArtifactNotEditable, ArtifactTooLong; for a PDF UnknownDocument and ServiceSilent.
        """
        text = body.text if body.document_id is None else await self._document_text(caller, body.document_id)
        async with self.changing(caller, session_id) as own:
            now = await own.artifacts.current(session_id)
            check_version(now, expected)
            if now is not None and ArtifactKind.pdf in {now.kind, body.kind}:
                raise ArtifactNotEditable("delete the artifact first, to create one of another kind")
            proposal = ArtifactProposal(
                ArtifactEvent.update if now else ArtifactEvent.create,
                now.current_index if now else None,
                body.kind,
                body.language,
                body.title,
                text,
                kept_citations(now.text, text, now.citations) if now else [],
                body.document_id,
            )
            return await own.add(now, proposal), now is None

    async def patch(
        self, caller: Principal, session_id: UUID, body: ArtifactPatch, expected: int | None
    ) -> ArtifactView:
        """Raises ArtifactNotFound, PreconditionFailed, ArtifactNotEditable, SpanLost, EditsMisplaced, ArtifactTooLong,
        ArtifactVersionNotFound.
        """
        async with self.changing(caller, session_id) as own:
            now = await own.changeable(expected)
            if now.kind is ArtifactKind.pdf:
                raise ArtifactNotEditable
            text = await _patched(own.artifacts, now, body)
            proposal = ArtifactProposal(
                ArtifactEvent.patch if body.span else ArtifactEvent.update,
                now.current_index,
                now.kind,
                now.language,
                body.title or now.title,
                text,
                kept_citations(now.text, text, now.citations),
            )
            return await own.add(now, proposal)

    async def restore(self, caller: Principal, session_id: UUID, index: int, expected: int | None) -> ArtifactView:
        """Adds a version equal to that one. Raises ArtifactNotFound, ArtifactVersionNotFound,
        PreconditionFailed.
        """
        async with self.changing(caller, session_id) as own:
            now = await own.changeable(expected)
            old = await own.artifacts.version(now.id, index)
            proposal = ArtifactProposal(
                ArtifactEvent.restore,
                now.current_index,
                old.kind,
                old.language,
                old.title,
                old.text,
                old.citations,
                old.document_id,
            )
            return await own.add(now, proposal)

    async def undo(self, caller: Principal, session_id: UUID, expected: int | None) -> ArtifactView:
        """Raises ArtifactNotFound, NothingToUndo, PreconditionFailed."""
        async with self.changing(caller, session_id) as own:
            return await own.artifacts.undo(await own.changeable(expected))

    async def redo(self, caller: Principal, session_id: UUID, expected: int | None) -> ArtifactView:
        """Raises ArtifactNotFound, NothingToRedo, PreconditionFailed."""
        async with self.changing(caller, session_id) as own:
            return await own.artifacts.redo(await own.changeable(expected))

    async def delete(self, caller: Principal, session_id: UUID, expected: int | None) -> ArtifactReceipt:
        """Deletes the artifact, and its document first. Raises ArtifactNotFound, PreconditionFailed, ServiceSilent."""
        async with self.reading(caller, session_id) as own:
            await own.changeable(expected)
        await self.indexing.forget(caller.workspace_id, session_id)
        async with self.changing(caller, session_id) as own:
            view = await own.changeable(expected)
            removed, remaining = await own.artifacts.delete(view.id)
        return ArtifactReceipt(
            artifact_id=view.id,
            removed={"artifact_versions": removed},
            remaining={"artifact_versions": remaining},
        )

    async def _document_text(self, caller: Principal, document_id: UUID) -> str:
        text = await self.ingestion.markdown(caller, document_id)
        if text is None:
            raise UnknownDocument("There is no such document in this workspace, or it is not converted yet")
        return text


async def _patched(artifacts: ArtifactRepository, now: ArtifactView, body: ArtifactPatch) -> str:
    if body.span is not None and body.replacement is not None:
        return await _spliced(artifacts, now, body.span, body.replacement)
    try:
        return apply_edits(now.text, body.edits or [])
    except EditsNotApplicable as error:
        misplaced = [{"number": one.number, "count": one.count} for one in error.misplaced]
        raise EditsMisplaced(str(error), misplaced=misplaced) from error


async def _spliced(artifacts: ArtifactRepository, now: ArtifactView, span: ArtifactSpan, replacement: str) -> str:
    seen = now if span.index == now.index else await artifacts.version(now.id, span.index)
    found = find_span(now.text, seen.text, span.start, span.end, span.seen)
    if found is None:
        raise SpanLost(current_index=now.current_index, version=now.version)
    return splice(now.text, *found, replacement)
