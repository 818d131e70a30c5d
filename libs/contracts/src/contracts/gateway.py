"""Users, workspaces, roles and API keys."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from contracts.base import Name, Request, Resource, storable
from contracts.ingestion import StoreReceipt


class Role(StrEnum):
    """What a key may do in its workspace. Each role includes the ones before it."""

    viewer = "viewer"
    editor = "editor"
    owner = "owner"

    @property
    def rank(self) -> int:
        return list(Role).index(self)


MOST_WORKSPACES = 100  # that one key may read and one search may cover
WorkspaceIds = Annotated[list[UUID], Field(max_length=MOST_WORKSPACES)]
LAST_YEAR = 2999


def _in_utc(moment: datetime) -> datetime:
    """Returns the moment in UTC. Raises ValueError if it is out of the range that stores can hold."""
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is out of range") from None
    if moment.year > LAST_YEAR:
        raise ValueError(f"must not be after the year {LAST_YEAR}")
    return moment


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=320, pattern=r"^[^\s@]{1,64}@[^\s@]{1,255}$"),
    AfterValidator(storable),
]


class UserCreate(Request):
    """`email` can be used to sign in, like the name; nothing is sent to it."""

    name: Name
    email: Email | None = None


class UserPatch(Request):
    """What an administrator changes about a user; fields not given stay as they are."""

    disabled: bool | None = None
    is_admin: bool | None = None
    email: Email | None = None


class User(Resource):
    """`disabled_at` is set while an administrator keeps the user out."""

    id: UUID
    name: str
    email: str | None = None
    is_admin: bool
    created_at: datetime
    disabled_at: datetime | None = None


class WorkspaceCreate(Request):
    name: Name


# Not fewer, so that a page that is signed in with a key can still be used.
KeyRate = Annotated[int, Field(ge=60, le=1_000_000)]


class WorkspacePatch(Request):
    """What an owner changes about a workspace. A field that is not given stays as it is."""

    key_requests_per_minute: KeyRate | None = Field(
        default=None, description="Rate-limit tokens of each API key per minute; null: as many as the operator allows"
    )


class Workspace(Resource):
    """`key_requests_per_minute` is the limit that owners have set for each API key, if any."""

    id: UUID
    name: str
    created_at: datetime
    key_requests_per_minute: int | None = None


class LimitedWorkspace(Workspace):
    """A workspace with the limit of each API key that is in force: the lower one of the operator's and the owners'."""

    most_key_requests_per_minute: int | None = Field(description="null: no limit")


class WorkspaceDeletion(Resource):
    """What each service deleted and what it still holds (0 proves the deletion); complete when all have confirmed."""

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
    """A key in the caller's own name: `user_id` is optional, and rejected if it is another user's.

    The key may search `workspaces` besides its own (scope `global`), as far as its user is a member of them. With
    `all_workspaces` it may search every workspace its user belongs to at the time of the search. The presented key must
    be able to read them itself, and a key that expires cannot create one that lives longer.
    """

    name: Name
    role: Role = Role.editor
    user_id: UUID | None = None
    all_workspaces: bool = False
    workspaces: WorkspaceIds = []
    expires_at: Moment | None = None


class ApiKey(Resource):
    """`workspaces`: those the key may read while its user is a member, its own first.

    With `all_workspaces` it reads all its user's other workspaces as well. For another user's key only its own
    workspace is listed, except to administrators.
    """

    id: UUID
    name: str
    user_id: UUID
    workspace_id: UUID
    role: Role
    all_workspaces: bool = False
    workspaces: list[UUID] = []
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None
    revoked_at: datetime | None


class ApiKeyCreated(ApiKey):
    """The only response that shows the key itself."""

    key: str


class InvitationCreate(Request):
    """`name` is the invited person's; `note`, such as an address, is for the owners' list: nothing is sent to it.

    Without `expires_at` the invitation is open for seven days; the maximum is 90.
    """

    role: Role = Role.editor
    name: Name | None = None
    note: Name | None = None
    expires_at: Moment | None = None


class InvitationStatus(StrEnum):
    """An invitation also counts as `revoked` while the user who made it is no longer allowed to invite."""

    open = "open"
    accepted = "accepted"
    expired = "expired"
    revoked = "revoked"


class Invitation(Resource):
    id: UUID
    workspace_id: UUID
    role: Role
    name: str | None
    note: str | None
    status: InvitationStatus
    created_by: UUID
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None
    accepted_by: UUID | None
    revoked_at: datetime | None


class InvitationCreated(Invitation):
    """The only response that shows the token, which anyone who holds it may use once.

    `link` is the page of the web UI that accepts it, with the token after the `#`; null if no web UI is served.
    """

    token: str
    link: str | None = None


InvitationToken = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class InvitationAccept(Request):
    """With an API key the invitation is accepted by its user, without one by a new user.

    `name` is the new user's, by default the one in the invitation. `key_name` and `workspaces` are those of the key
    in the response: as in `ApiKeyCreate`, the presented key must reach the other workspaces itself.
    """

    token: InvitationToken
    name: Name | None = None
    key_name: Name = "first key"
    workspaces: WorkspaceIds = []


class InvitationAccepted(Resource):
    """`key` is a key of the workspace that was joined; it is shown only this once."""

    user: User
    workspace: Workspace
    role: Role
    key: ApiKeyCreated


class Caller(Resource):
    """The user, workspace and role of the presented key, or of the web session (then `session_id` is set)."""

    user: User
    workspace: Workspace
    role: Role
    key_id: UUID | None
    session_id: UUID | None = None


class WallStatus(Resource):
    """A wall around the processes that read files. `detail` says how it is built, or why this machine lacks it."""

    name: str
    active: bool
    detail: str


class ServiceStatus(Resource):
    """`version` is that of the running code, `schema_version` the newest migration of its schema; null if not known.

    `walls`: for services that read files; active if every worker has one. Empty while no worker is alive.
    """

    name: str
    status: Literal["ready", "not_ready", "unreachable"]
    version: str | None = None
    schema_version: str | None = None
    detail: str | None = None
    walls: list[WallStatus] = []


class Status(Resource):
    """`status` is `ready` if every service is."""

    status: Literal["ready", "degraded"]
    version: str
    services: list[ServiceStatus]


class Backlog(Resource):
    """How far a service is behind on a stream of events, across all workspaces.

    `waiting`: events not delivered to it yet, null if Redis cannot say; `held`: events delivered but not handled.
    `oldest_seconds` is the age of the oldest of either, 0 if there are none.
    """

    stream: str
    service: str
    waiting: int | None
    held: int
    oldest_seconds: float


class Backlogs(Resource):
    """The backlogs of every service on every stream."""

    items: list[Backlog]


LetterId = Annotated[str, StringConstraints(pattern=r"^(documents|turns)-[0-9]{1,19}-[0-9]{1,19}$")]


class DeadLetter(Resource):
    """An event that `service` gave up on after its retries, or refused. `subject` is the id of what the event is about.

    `type`, `subject` and `workspace_id` are null for an entry that is not an event; only administrators see it.
    """

    id: LetterId
    stream: str
    service: str
    type: str | None
    subject: str | None
    workspace_id: UUID | None
    reason: str
    failed_at: datetime


class LettersReplay(Request):
    """The dead letters to replay."""

    ids: list[LetterId] = Field(min_length=1, max_length=200)


class LettersReplayed(Resource):
    """How many were replayed; those that no longer existed are not counted."""

    replayed: int


class WorkspaceState(Resource):
    """The state that other services check before they erase a workspace."""

    is_deleted: bool


class AuditResult(StrEnum):
    """`refused`: the caller is not allowed to, or the request was invalid; `failed`: an error on the server's side."""

    done = "done"
    refused = "refused"
    failed = "failed"


class AuditEntry(Resource):
    """An action: who did what to which resource, from which address, and how it ended (`status` is the HTTP status).

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
