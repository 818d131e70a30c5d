"""Callers, and what they may do. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.gateway import Caller, Role, User, Workspace
from gateway.errors import (
    LongerThanItsKey,
    NeedsAdmin,
    NeedsOwner,
    NeedsWiderKey,
    OwnNameOnly,
    ProtectedAdmin,
    UnknownWorkspace,
)
from service_kit.auth import Principal


@dataclass(frozen=True)
class SignedIn:
    """A user with a web session, before one of the user's workspaces is chosen."""

    session_id: UUID
    user: User

    @property
    def presented_id(self) -> UUID:
        """Returns the id of the web session."""
        return self.session_id

    @property
    def rate_holder(self) -> str:
        """Returns the id whose requests are counted together: a user has one allowance for all sessions."""
        return self.user.id.hex

    @property
    def most_per_minute(self) -> int | None:
        """Returns None: the owners of a workspace do not limit the requests of people."""
        return None


@dataclass(frozen=True)
class Authenticated:
    """A valid key or web session, with its user and workspace.

    `role` is the key's, or its user's current one if that is lower. At least one of `key_id` and `session_id` is set,
    both for a web session begun with the key. `workspaces` are those that a key may search besides its own, as long as
    its user is a member of them.
    """

    key_id: UUID | None
    user: User
    workspace: Workspace
    role: Role
    all_workspaces: bool = False
    workspaces: tuple[UUID, ...] = ()
    expires_at: datetime | None = None
    session_id: UUID | None = None

    @property
    def credential_id(self) -> UUID:
        """Returns the id that repeated requests share: the key's, or the user's, who may sign in again in between."""
        return self.key_id or self.user.id

    @property
    def presented_id(self) -> UUID | None:
        """Returns the id of the key or of the web session."""
        return self.key_id or self.session_id

    @property
    def rate_holder(self) -> str:
        """Returns the id whose requests are counted together."""
        return self.credential_id.hex

    @property
    def most_per_minute(self) -> int | None:
        """Returns the rate that the workspace's owners limit its keys to, if they do."""
        return self.workspace.key_requests_per_minute if self.key_id else None

    @property
    def is_admin(self) -> bool:
        """Returns whether the caller has an administrator's powers, which require a key with the role of an owner."""
        return self.user.is_admin and self.role is Role.owner

    @property
    def principal(self) -> Principal:
        return Principal(self.user.id, self.workspace.id, self.role, key_id=self.key_id)

    def describe(self) -> Caller:
        return Caller(
            user=self.user, workspace=self.workspace, role=self.role, key_id=self.key_id, session_id=self.session_id
        )

    def must_be_admin(self) -> None:
        if not self.is_admin:
            raise NeedsAdmin

    def must_see(self, workspace_id: UUID) -> None:
        """Raises UnknownWorkspace for any workspace but the key's own, whether it exists or not."""
        if workspace_id != self.workspace.id and not self.is_admin:
            raise UnknownWorkspace

    def must_own(self, workspace_id: UUID) -> None:
        self.must_see(workspace_id)
        if self.role is not Role.owner:
            raise NeedsOwner

    def must_be(self, user_id: UUID) -> None:
        """Raises OwnNameOnly for another user: a key in that user's name could read the user's private data."""
        if user_id != self.user.id:
            raise OwnNameOnly

    def may_open_all(self) -> None:
        """Raises NeedsWiderKey: a key for one workspace must not reach its user's others by creating another key."""
        if not (self.is_admin or self.all_workspaces):
            raise NeedsWiderKey

    def may_outlive(self, expires_at: datetime | None) -> None:
        """Raises LongerThanItsKey: the holder of an expiring key must not be able to make access permanent."""
        if self.expires_at is not None and (expires_at is None or expires_at > self.expires_at):
            raise LongerThanItsKey

    def may_act_on(self, user_is_admin: bool) -> None:
        """Raises ProtectedAdmin: an owner must not remove an administrator's membership or keys."""
        if user_is_admin and not self.is_admin:
            raise ProtectedAdmin
