"""Users, workspaces, roles and API keys."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from contracts.base import Name, Request, Resource
from contracts.ingestion import StoreReceipt


class Role(StrEnum):
    """What a key may do in its workspace. Each role includes the ones before it."""

    viewer = "viewer"
    editor = "editor"
    owner = "owner"

    @property
    def rank(self) -> int:
        return list(Role).index(self)


class UserCreate(Request):
    name: Name


class User(Resource):
    id: UUID
    name: str
    is_admin: bool
    created_at: datetime


class WorkspaceCreate(Request):
    name: Name


class Workspace(Resource):
    id: UUID
    name: str
    created_at: datetime


class WorkspaceDeletion(Resource):
    """What each service deleted and still counts (0 proves the deletion); complete when all have confirmed."""

    workspace_id: UUID
    requested_at: datetime
    completed_at: datetime | None
    pending: list[str]
    services: list[StoreReceipt]


class MemberPut(Request):
    role: Role


class Member(Resource):
    user_id: UUID
    name: str
    role: Role


class ApiKeyCreate(Request):
    """`user_id` defaults to the caller; an owner may create a key for another member, up to that member's role.

    With `all_workspaces` the key may also search every workspace that its user is a member of (scope `global`). Such
    keys are created by an administrator, or by users for themselves with another key of this kind.
    """

    name: Name
    role: Role = Role.editor
    user_id: UUID | None = None
    all_workspaces: bool = False


class ApiKey(Resource):
    id: UUID
    name: str
    user_id: UUID
    workspace_id: UUID
    role: Role
    all_workspaces: bool = False
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class ApiKeyCreated(ApiKey):
    """The only response that shows the key itself."""

    key: str


class Caller(Resource):
    """The user, workspace and role of the presented key."""

    user: User
    workspace: Workspace
    role: Role
    key_id: UUID


class ServiceStatus(Resource):
    name: str
    status: Literal["ready", "not_ready", "unreachable"]
    detail: str | None = None


class Status(Resource):
    """`status` is `ready` if every service is."""

    status: Literal["ready", "degraded"]
    version: str
    services: list[ServiceStatus]


class WorkspaceState(Resource):
    """What other services ask before they erase a workspace."""

    is_deleted: bool


class AuditResult(StrEnum):
    """`refused`: the caller may not, or the request was wrong; `failed`: something is broken on this side."""

    done = "done"
    refused = "refused"
    failed = "failed"


class AuditEntry(Resource):
    """A deed: who did what to which resource, from which address, and how it ended (`status` is the HTTP status).

    `credential_id` is the API key or the session that was presented. `detail` holds what was decided (a role, say) and
    the ids of what was created, never content.
    """

    id: UUID
    at: datetime
    workspace_id: UUID | None
    action: str
    result: AuditResult
    status: int
    user_id: UUID | None
    credential_id: UUID | None
    address: str | None
    target_id: str | None
    detail: dict[str, Any]
    trace_id: str | None
