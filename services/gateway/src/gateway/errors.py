"""What the gateway itself refuses or cannot do."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from service_kit.problems import Conflict, Forbidden, InvalidRequest, NotFound, Problem, Unauthenticated


class InvalidKey(Unauthenticated):
    """Says the same for an unknown, a mistyped and a revoked key."""

    type, title = "invalid-api-key", "The API key is not valid"

    def __init__(self) -> None:
        super().__init__(headers={"WWW-Authenticate": "Bearer"})


class RateLimited(Problem):
    status, type, title = 429, "rate-limited", "Too many requests with this key"


class TooManyFailures(Problem):
    status, type, title = 429, "too-many-failed-authentications", "Too many failed authentications from this address"


class UpstreamUnreachable(Problem):
    status, type, title = 502, "service-unreachable", "A service behind the gateway cannot be reached"


class UpstreamRefused(Problem):
    status, type, title = 502, "service-refused", "A service behind the gateway does not accept its token"


class UpstreamTimeout(Problem):
    status, type, title = 504, "service-timeout", "A service behind the gateway did not answer in time"


class CallerLeft(Problem):
    """Nobody reads it: it is for the logs and metrics, with the status that nginx has for it."""

    status, type, title = 499, "caller-left", "The caller closed the connection before the answer"


class UnknownWorkspace(NotFound):
    title = "There is no such workspace"


class UnknownMember(NotFound):
    type, title = "member-not-found", "The user is not a member of this workspace"


class UnknownUser(NotFound):
    type, title = "user-not-found", "There is no such user"


class UnknownKey(NotFound):
    type, title = "api-key-not-found", "There is no such API key in this workspace"


class NeedsAdmin(Forbidden):
    type, title = "admin-needed", "Only an owner's key of an administrator may do this"


class NeedsOwner(Forbidden):
    title = "Only an owner of the workspace may do this"


class NeedsWiderKey(Forbidden):
    """Made by an administrator, or by a user for himself with another of this kind."""

    type, title = "needs-wider-key", "A key for all workspaces cannot be made with this one"


class ProtectedAdmin(Forbidden):
    type, title = "admin-protected", "Only an administrator may act on an administrator's membership and keys"


class LastOwner(Conflict):
    type, title = "last-owner", "A workspace keeps at least one owner"


class UnknownDeletion(NotFound):
    title = "No such workspace was deleted"


class NameNotConfirmed(InvalidRequest):
    type, title = "name-not-confirmed", "To delete the workspace, repeat its name exactly as ?name="


class LastAdminKey(Conflict):
    type, title = "last-admin-key", "No administrator's key would be left: make one in another workspace first"


class RoleAboveMember(InvalidRequest):
    type, title = "role-too-high", "A key cannot have a higher role than its user has in the workspace"


class IdempotencyKeyReused(InvalidRequest):
    type, title = "idempotency-key-reused", "This Idempotency-Key was used before with another request"


class SecretNotRepeatable(Conflict):
    type, title = "secret-not-repeatable", "The key was created, but its secret cannot be told again; revoke it"


class BodyTooLarge(HTTPException):
    """Not a Problem: the framework passes its own HTTPException on when reading a body ends in one."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"The body is larger than the {limit} bytes that this route takes")
