"""Shares a session: takes the snapshot, and opens it for anyone with its token."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from contracts.orchestrator import Message, MessageStatus, Session
from contracts.random_secrets import proves
from contracts.share_tokens import ShareToken
from contracts.sharing import (
    OpenedShare,
    PresentedShare,
    ShareAudience,
    ShareCreate,
    ShareCreated,
    SharedMessage,
    SharingSettings,
)
from orchestrator.errors import (
    AnswerUnderWay,
    BadShareExpiry,
    LinksNotAllowed,
    MessageNotFound,
    NothingToShare,
    ShareNotRepeatable,
    TooMuchToShare,
)
from orchestrator.sessions.messages import CallerMessages
from orchestrator.sessions.repository import CallerSessions
from orchestrator.shares.repository import CallerShares, NewShare, WorkspaceSharing
from orchestrator.shares.snapshot import shared_message
from service_kit.auth import Principal
from service_kit.idempotency import creation_id
from service_kit.postgres import Connection, Database
from service_kit.problems import PreconditionFailed

READ_FOR, READ_FOR_AT_MOST = timedelta(days=30), timedelta(days=365)
MOST_MESSAGES, MOST_CHARACTERS = 1_000, 2_000_000
UNDER_WAY = {MessageStatus.pending, MessageStatus.running}


class SessionSharing:
    """Each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def share(self, caller: Principal, session_id: UUID, wanted: ShareCreate, key: str | None) -> ShareCreated:
        """Returns the share with its token, only this once.

        Raises SessionNotFound, MessageNotFound, NothingToShare, AnswerUnderWay, TooMuchToShare, LinksNotAllowed,
        BadShareExpiry, and ShareNotRepeatable if `key` has made a share of this session before.
        """
        expires_at = _expiry(wanted)
        token = ShareToken.new(caller.workspace_id, creation_id(caller.user_id, key, f"share/{session_id}/"))
        async with self.database.workspace(caller.workspace_id) as connection:
            if wanted.audience is ShareAudience.link:
                await self._check_links(connection, caller.workspace_id)
            session = await CallerSessions(connection, caller).find(session_id)
            last = wanted.message_id or session.head_id
            if last is None:
                raise NothingToShare
            messages = await _snapshot(connection, caller, session, last, wanted.audience)
            new = NewShare(session_id, last, session.title, wanted.audience, expires_at)
            share = await CallerShares(connection, caller).insert(token, new, messages)
        if share is None:
            raise ShareNotRepeatable(f"the share {token.share_id}")
        return ShareCreated(**share.model_dump(), token=token.render())

    async def open(self, workspace_id: UUID, presented: PresentedShare) -> OpenedShare | None:
        """Returns the share; None unless the secret is valid for one that can be read now."""
        async with self.database.workspace(workspace_id) as connection:
            stored = await WorkspaceSharing(connection, workspace_id).find(presented.share_id)
        if stored is None or not proves(presented.secret, stored.secret_sha256):
            return None
        return OpenedShare(created_by=stored.created_by, session=stored.session())

    async def settings(self, workspace_id: UUID) -> SharingSettings:
        async with self.database.workspace(workspace_id) as connection:
            return await WorkspaceSharing(connection, workspace_id).settings()

    async def change(self, workspace_id: UUID, links: bool, version: int | None) -> SharingSettings:
        """Raises PreconditionFailed if `version` is not the current one."""
        async with self.database.workspace(workspace_id) as connection:
            sharing = WorkspaceSharing(connection, workspace_id)
            await sharing.lock_settings()
            current = (await sharing.settings()).version
            if version not in (None, current):
                raise PreconditionFailed(f"The settings are now at version {current}")
            return await sharing.put_settings(links)

    async def _check_links(self, connection: Connection, workspace_id: UUID) -> None:
        if not (await WorkspaceSharing(connection, workspace_id).settings()).links:
            raise LinksNotAllowed


def _expiry(wanted: ShareCreate) -> datetime:
    now = datetime.now(UTC)
    if wanted.expires_at is None:
        return now + READ_FOR
    if wanted.expires_at.tzinfo is None or not now < wanted.expires_at <= now + READ_FOR_AT_MOST:
        raise BadShareExpiry(f"give a time with its zone, at most {READ_FOR_AT_MOST.days} days from now")
    return wanted.expires_at


async def _snapshot(
    connection: Connection, caller: Principal, session: Session, last: UUID, audience: ShareAudience
) -> list[SharedMessage]:
    """Returns the path to the message in the form for others."""
    ending_there = session.model_copy(update={"head_id": last})
    path = (await CallerMessages(connection, caller).path(ending_there, MOST_MESSAGES, None)).items
    if not path:
        raise MessageNotFound
    if path[-1].id != last or sum(map(_size, path)) > MOST_CHARACTERS:
        raise TooMuchToShare(f"at most {MOST_MESSAGES:,} messages with {MOST_CHARACTERS:,} characters")
    if any(message.status in UNDER_WAY for message in path):
        raise AnswerUnderWay
    return [shared_message(message, audience) for message in path]


def _size(message: Message) -> int:
    return len(message.content) + sum(len(citation.quote) for citation in message.citations)
