"""Creates, lists and revokes invitations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from contracts.base import Page
from contracts.gateway import Invitation, InvitationCreate, InvitationCreated
from contracts.random_secrets import new_secret
from gateway.accounts import invitation_token
from gateway.accounts.caller import Authenticated
from gateway.accounts.invitations import Invitations
from gateway.accounts.key_format import Credential
from gateway.accounts.workspaces import Workspaces
from gateway.errors import BadExpiry, IdempotencyKeyReused, SecretNotRepeatable, UnknownInvitation, UnknownWorkspace
from service_kit.idempotency import creation_id
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Database

OPEN_FOR, OPEN_FOR_AT_MOST = timedelta(days=7), timedelta(days=90)


class Inviting:
    """Each method is one transaction, and requires an owner."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def invite(
        self, caller: Authenticated, workspace_id: UUID, body: InvitationCreate, idempotency_key: str | None
    ) -> InvitationCreated:
        """Creates an invitation and returns its token, only this once: no message is sent, and only a hash is stored.

        Raises BadExpiry, and for a repeated Idempotency-Key SecretNotRepeatable, or IdempotencyKeyReused if that
        created a different invitation.
        """
        caller.must_own(workspace_id)
        now = datetime.now(UTC)
        expires_at = body.expires_at or now + OPEN_FOR
        if not now < expires_at <= now + OPEN_FOR_AT_MOST:
            raise BadExpiry(f"an invitation is open for at most {OPEN_FOR_AT_MOST.days} days")
        token = Credential(
            creation_id(caller.credential_id, idempotency_key, f"invitation/{workspace_id}/"), new_secret()
        )
        async with self.database.workspace(workspace_id) as connection:
            if not await Workspaces(connection).lock(workspace_id):
                raise UnknownWorkspace
            invitations = Invitations(connection, workspace_id)
            made = await invitations.insert(token, caller.user.id, body, expires_at)
            if made is None:
                raise await _repeated(invitations, token.id, body)
        return InvitationCreated(**made.model_dump(), token=invitation_token.render(token))

    async def page(self, caller: Authenticated, workspace_id: UUID, limit: int, cursor: str | None) -> Page[Invitation]:
        """Lists the workspace's invitations, including those no longer open."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if await Workspaces(connection).find(workspace_id) is None:
                raise UnknownWorkspace
            rows = await Invitations(connection, workspace_id).list(*decode_cursor(cursor), limit + 1)
        return page(rows, limit, lambda one: (one.created_at, one.id))

    async def revoke(self, caller: Authenticated, workspace_id: UUID, invitation_id: UUID) -> None:
        """Revokes an invitation at once. An accepted one does not change; revoking twice is no error."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            invitations = Invitations(connection, workspace_id)
            if await invitations.find(invitation_id) is None:
                raise UnknownInvitation
            await invitations.revoke(invitation_id)


async def _repeated(
    invitations: Invitations, invitation_id: UUID, body: InvitationCreate
) -> IdempotencyKeyReused | SecretNotRepeatable:
    made = await invitations.find(invitation_id)
    if made is None or (made.role, made.name, made.note) != (body.role, body.name, body.note):
        return IdempotencyKeyReused()
    return SecretNotRepeatable(f"the invitation {made.id}")
