"""The table of invitations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.gateway import Invitation, InvitationCreate
from gateway.accounts.key_format import Credential
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

# An invitation is valid while its creator is an owner of the workspace or an administrator, and not disabled.
STATUS = """CASE
    WHEN invitation.accepted_at IS NOT NULL THEN 'accepted'
    WHEN invitation.revoked_at IS NOT NULL OR NOT EXISTS (
        SELECT FROM app_user AS maker
        WHERE maker.id = invitation.created_by AND maker.disabled_at IS NULL AND (maker.is_admin OR EXISTS (
            SELECT FROM membership
            WHERE workspace_id = invitation.workspace_id AND user_id = maker.id AND role = 'owner'
        ))
    ) THEN 'revoked'
    WHEN invitation.expires_at <= clock_timestamp() THEN 'expired'
    ELSE 'open' END AS status"""
COLUMNS = (
    "id, workspace_id, role, name, note, created_by, created_at, expires_at, accepted_at, accepted_by, revoked_at, "
    + STATUS
)


class InvitationSql(Statements, file="invitations.sql", columns=COLUMNS):
    insert: str
    find: str
    list: str
    revoke: str
    find_presented: str
    lock: str
    accept: str


@dataclass(frozen=True)
class Presented:
    """The data that verifies a presented invitation token."""

    workspace_id: UUID
    token_sha256: bytes


class InvitationsOfAllWorkspaces(SystemRepository):
    async def find(self, invitation_id: UUID) -> Presented | None:
        return await self.one(InvitationSql.find_presented, Presented, id=invitation_id)


class Invitations(Repository):
    async def insert(
        self, token: Credential, created_by: UUID, body: InvitationCreate, expires_at: datetime
    ) -> Invitation | None:
        """Returns the new invitation, or None if one with this id exists."""
        return await self.one(
            InvitationSql.insert,
            Invitation,
            id=token.id,
            role=body.role.value,
            name=body.name,
            note=body.note,
            token_sha256=token.secret_sha256,
            created_by=created_by,
            expires_at=expires_at,
        )

    async def find(self, invitation_id: UUID) -> Invitation | None:
        return await self.one(InvitationSql.find, Invitation, id=invitation_id)

    async def list(self, at: datetime | None, after: UUID | None, limit: int) -> list[Invitation]:
        """Returns invitations after the given one, oldest first."""
        return await self.all(InvitationSql.list, Invitation, at=at, after=after, limit=limit)

    async def revoke(self, invitation_id: UUID) -> None:
        await self.run(InvitationSql.revoke, id=invitation_id)

    async def lock(self, invitation_id: UUID) -> Invitation | None:
        """Returns the invitation and keeps others from accepting it until the transaction ends."""
        await self.value(InvitationSql.lock, id=invitation_id)
        return await self.find(invitation_id)

    async def accept(self, invitation_id: UUID, accepted_by: UUID) -> None:
        await self.run(InvitationSql.accept, id=invitation_id, accepted_by=accepted_by)
