"""Accepts invitations, the only way in which owners can add people to a workspace."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from contracts.gateway import (
    ApiKeyCreate,
    InvitationAccept,
    InvitationAccepted,
    InvitationStatus,
    Role,
    User,
    Workspace,
)
from gateway.accounts import invitation_token
from gateway.accounts.api_keys import ApiKeys
from gateway.accounts.caller import Authenticated
from gateway.accounts.invitations import Invitations, InvitationsOfAllWorkspaces
from gateway.accounts.members import Members
from gateway.accounts.users import Users
from gateway.accounts.workspaces import Workspaces
from gateway.errors import (
    AlreadyMember,
    InvitationExpired,
    InvitationRevoked,
    InvitationUsed,
    NameNeeded,
    UnknownInvitation,
)
from service_kit.postgres import Connection, Database

CLOSED = {
    InvitationStatus.accepted: InvitationUsed,
    InvitationStatus.expired: InvitationExpired,
    InvitationStatus.revoked: InvitationRevoked,
}


@dataclass(frozen=True)
class Joined:
    """A user who has become a member of the workspace with this role."""

    user: User
    workspace: Workspace
    role: Role


async def join(connection: Connection, token: str, user: User | None, name: str | None) -> Joined:
    """Uses up an invitation: makes the user, or without one a new user called `name`, a member of its workspace.

    `connection` is a transaction of `Database.system`, which also commits the user's credential, such as a key or a
    password. Raises UnknownInvitation, InvitationUsed, InvitationExpired, InvitationRevoked, AlreadyMember,
    and NameNeeded if neither the invitation nor the caller names the new user.
    """
    presented = invitation_token.parse(token)
    found = await InvitationsOfAllWorkspaces(connection).find(presented.id) if presented else None
    if presented is None or found is None or not presented.matches(found.token_sha256):
        raise UnknownInvitation
    workspaces = Workspaces(connection)
    await workspaces.lock(found.workspace_id)
    workspace = await workspaces.find(found.workspace_id)
    invitations, members = Invitations(connection, found.workspace_id), Members(connection, found.workspace_id)
    invitation = await invitations.lock(presented.id)
    if workspace is None or invitation is None:
        raise UnknownInvitation
    if closed := CLOSED.get(invitation.status):
        raise closed
    if user is None:
        user = await _new_user(connection, name or invitation.name)
    elif await members.find(user.id):
        raise AlreadyMember
    await members.put(user.id, invitation.role)
    await invitations.accept(invitation.id, user.id)
    return Joined(user, workspace, invitation.role)


async def _new_user(connection: Connection, name: str | None) -> User:
    if name is None:
        raise NameNeeded
    user = await Users(connection).insert(uuid4(), name)
    assert user is not None, "a new random id is free"
    return user


class Joining:
    """Accepts invitations with an API key, or for a first one."""

    def __init__(self, database: Database, api_keys: ApiKeys) -> None:
        self.database, self.api_keys = database, api_keys

    async def accept(self, caller: Authenticated | None, body: InvitationAccept) -> InvitationAccepted:
        """Makes the caller, or a new user, a member, and returns a key of the workspace, shown this once.

        Raises what `join` does, and NeedsWiderKey if the key would read more workspaces than the presented one.
        """
        async with self.database.system() as connection:
            joined = await join(connection, body.token, caller.user if caller else None, body.name)
            terms = ApiKeyCreate(name=body.key_name, role=joined.role, workspaces=body.workspaces)
            key = await self.api_keys.first(connection, caller, joined.user, joined.workspace.id, terms)
        return InvitationAccepted(user=joined.user, workspace=joined.workspace, role=joined.role, key=key)
