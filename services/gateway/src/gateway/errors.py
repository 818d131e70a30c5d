"""The problems that the gateway itself reports."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from service_kit.problems import Conflict, Forbidden, InvalidRequest, NotFound, Problem, Unauthenticated


class InvalidKey(Unauthenticated):
    """Does not tell an unknown key from a mistyped or a revoked one."""

    type, title = "invalid-api-key", "The API key is not valid"

    def __init__(self) -> None:
        super().__init__(headers={"WWW-Authenticate": "Bearer"})


class RateLimited(Problem):
    status, type, title = 429, "rate-limited", "Too many requests with this key"


class TooManyFailures(Problem):
    status, type, title = 429, "too-many-failed-authentications", "Too many failed authentications from this address"


class WrongCredentials(Unauthenticated):
    """Does not tell an unknown user from a wrong password, a missing one or a disabled user."""

    type, title = "wrong-credentials", "The name or the password is not right"


class SessionEnded(Unauthenticated):
    type, title = "session-ended", "The web session has ended; sign in again"


class CrossSiteRequest(Forbidden):
    type, title = "cross-site-request", "A browser may do this from a page of this deployment alone"


class HostNotAllowed(Problem):
    status, type = 400, "host-not-allowed"
    title = "This host name is not this deployment's: an operator names it in PUBLIC_URL or ALLOWED_HOSTS"


class NotConfidential(Forbidden):
    type, title = "tls-needed", "Signing in needs https; an operator names the address of the deployment in PUBLIC_URL"


class NeedsSession(Forbidden):
    type, title = "web-session-needed", "This is for users who are signed in, not for API keys"


class WorkspaceNotChosen(InvalidRequest):
    type, title = "workspace-not-chosen", "Name one of your workspaces in the header X-Workspace-Id"


class UnknownWebSession(NotFound):
    type, title = "web-session-not-found", "You have no such web session"


class TooManyAttempts(Problem):
    status, type, title = 429, "too-many-sign-ins", "Too many attempts for this account or from this address"


class PasswordTooCommon(InvalidRequest):
    type, title = "password-too-common", "This password is among the first that others would try; choose another"


class WrongPassword(Forbidden):
    type, title = "wrong-password", "The old password is not right"


class NeedsPasswordLink(Forbidden):
    """A key of one workspace must not gain the whole user by setting a password."""

    type, title = "password-link-needed", "The first password is set with a one-time link from an administrator"


class UnknownPasswordLink(NotFound):
    type, title = "password-link-not-found", "The link is not known, was used or has ended"


class UpstreamUnreachable(Problem):
    status, type, title = 502, "service-unreachable", "A service behind the gateway cannot be reached"


class UpstreamRefused(Problem):
    status, type, title = 502, "service-refused", "A service behind the gateway rejected its token"


class UpstreamTimeout(Problem):
    status, type, title = 504, "service-timeout", "A service behind the gateway did not answer in time"


class CallerLeft(Problem):
    """Shows in logs and metrics alone, with the status that nginx uses for it."""

    status, type, title = 499, "caller-left", "The caller closed the connection before the answer"


class UnknownWorkspace(NotFound):
    title = "Workspace not found"


class UnknownMember(NotFound):
    type, title = "member-not-found", "The user is not a member of this workspace"


class UnknownUser(NotFound):
    type, title = "user-not-found", "User not found"


class UnknownKey(NotFound):
    type, title = "api-key-not-found", "This workspace has no such API key"


class NeedsAdmin(Forbidden):
    type, title = "admin-needed", "This needs an administrator's key with the role owner"


class NeedsOwner(Forbidden):
    title = "This needs the role owner in the workspace"


class NeedsWiderKey(Forbidden):
    """Administrators create such keys, and users for themselves with a key of this kind."""

    type, title = "needs-wider-key", "This key may not create a key for all workspaces"


class ProtectedAdmin(Forbidden):
    type, title = "admin-protected", "Only an administrator may act on an administrator's membership and keys"


class LastOwner(Conflict):
    type, title = "last-owner", "A workspace needs at least one owner"


class UnknownDeletion(NotFound):
    title = "No deletion of this workspace is known"


class NameNotConfirmed(InvalidRequest):
    type, title = "name-not-confirmed", "To confirm the deletion, pass the workspace's exact name as ?name="


class LastAdminKey(Conflict):
    type, title = "last-admin-key", "No administrator's key would be left; create one in another workspace first"


class RoleAboveMember(InvalidRequest):
    type, title = "role-too-high", "A key cannot have a higher role than its user has in the workspace"


class IdempotencyKeyReused(InvalidRequest):
    type, title = "idempotency-key-reused", "This Idempotency-Key was already used for a different request"


class SecretNotRepeatable(Conflict):
    type, title = "secret-not-repeatable", "The key was created, but its secret cannot be shown again; revoke it"


class BodyTooLarge(HTTPException):
    """An HTTPException rather than a Problem: the framework passes it on from the reading of a body."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"The body exceeds the {limit} bytes that this route accepts")
