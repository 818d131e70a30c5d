"""The problems that the gateway itself reports."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from service_kit.problems import Conflict, Forbidden, InvalidRequest, NotFound, Problem, Unauthenticated, Unavailable


class InvalidKey(Unauthenticated):
    """Does not distinguish an unknown key from a mistyped or revoked one."""

    type, title = "invalid-api-key", "The API key is not valid"


class KeyExpired(Unauthenticated):
    type, title = "api-key-expired", "The API key has expired; create another"


class UserDisabled(Unauthenticated):
    type, title = "user-disabled", "The user is disabled; an administrator can enable the user again"


class ForeignEventId(InvalidRequest):
    status, type, title = 400, "bad-event-id", "Last-Event-ID was not issued by this stream"


class RateLimited(Problem):
    status, type, title = 429, "rate-limited", "Too many requests with this key or in this workspace"


class TooManyInFlight(Problem):
    status, type, title = 429, "too-many-in-flight", "Too many requests of this key or workspace are in progress"


class TooManyFailures(Problem):
    status, type, title = 429, "too-many-failed-authentications", "Too many failed authentications from this address"


class WrongCredentials(Unauthenticated):
    """Does not distinguish an unknown user, a wrong or missing password, and a disabled user."""

    type, title = "wrong-credentials", "Wrong name or password"


class SessionEnded(Unauthenticated):
    type, title = "session-ended", "The web session has ended; sign in again"


class CrossSiteRequest(Forbidden):
    type, title = "cross-site-request", "A browser may only do this from a page of this deployment"


class HostNotAllowed(Problem):
    status, type = 400, "host-not-allowed"
    title = "This host name does not belong to this deployment; the operator can add it to PUBLIC_URL or ALLOWED_HOSTS"


class NotConfidential(Forbidden):
    type, title = "tls-needed", "Signing in requires https; the operator sets the deployment's address in PUBLIC_URL"


class NeedsSession(Forbidden):
    type, title = "web-session-needed", "This is for users who are signed in, not for API keys"


class NeedsKey(Forbidden):
    type, title = "key-needed", "Present an API key, not a web session"


class WorkspaceNotChosen(InvalidRequest):
    type, title = "workspace-not-chosen", "Name one of your workspaces in the header X-Workspace-Id"


class UnknownWebSession(NotFound):
    type, title = "web-session-not-found", "You have no such web session"


class TooManyAttempts(Problem):
    status, type, title = 429, "too-many-sign-ins", "Too many attempts for this account or from this address"


class EmailTaken(Conflict):
    type, title = "email-taken", "Another user has this e-mail address"


class SignInBusy(Unavailable):
    type, title = "sign-in-busy", "Too many people are signing in at the moment; try again"


class PasswordTooCommon(InvalidRequest):
    type, title = "password-too-common", "This password is too easy to guess; choose another"


class PasswordNeeded(InvalidRequest):
    type, title = "password-needed", "Choose a password, or sign in first to join as yourself"


class PasswordMismatch(Forbidden):
    type, title = "wrong-password", "The old password is wrong"


class NeedsPasswordLink(Forbidden):
    """A key for one workspace must not gain all of its user's rights by setting a password."""

    type, title = "password-link-needed", "The first password is set with a one-time link from an administrator"


class UnknownPasswordLink(NotFound):
    type, title = "password-link-not-found", "The link is unknown, was already used, or has expired"


class UnknownSignInCode(NotFound):
    type, title = "sign-in-code-not-found", "The sign-in link is unknown, used or expired; sign in another way"


class OpenIdNotConfigured(NotFound):
    type, title = "openid-not-configured", "This deployment has no OpenID Connect provider"


class OpenIdRequestUnknown(Forbidden):
    """The browser did not start the sign-in here, took too long, or came back a second time."""

    type, title = "openid-request-unknown", "This sign-in was not started in this browser, or has expired; start again"


class OpenIdRefused(Forbidden):
    type, title = "openid-refused", "The OpenID Connect provider did not sign you in"


class OpenIdTokenInvalid(Forbidden):
    type, title = "openid-token-invalid", "The provider's token is not valid for this sign-in"


class OpenIdProviderSilent(Problem):
    status, type, title = 502, "openid-provider-silent", "The OpenID Connect provider gave no usable answer"


class NotInvited(Forbidden):
    type, title = "not-invited", "You have not been invited: ask for an invitation"


class IdentityTaken(Conflict):
    type, title = "identity-taken", "This provider account belongs to another user here"


class UpstreamUnreachable(Problem):
    status, type, title = 502, "service-unreachable", "A service behind the gateway cannot be reached"


class UpstreamRefused(Problem):
    status, type, title = 502, "service-refused", "A service behind the gateway rejected its token"


class UpstreamTimeout(Problem):
    status, type, title = 504, "service-timeout", "A service behind the gateway did not answer in time"


class CallerLeft(Problem):
    """Appears only in logs and metrics, with the status that nginx uses for it."""

    status, type, title = 499, "caller-left", "The caller closed the connection before the answer"


class UnknownWorkspace(NotFound):
    title = "Workspace not found"


class UnknownMember(NotFound):
    """The same whether or not the user exists."""

    type, title = "member-not-found", "The workspace has no such member; invite the person"


class UnknownUser(NotFound):
    type, title = "user-not-found", "User not found"


class UnknownKey(NotFound):
    type, title = "api-key-not-found", "This workspace has no such API key"


class NeedsAdmin(Forbidden):
    type, title = "admin-needed", "This needs an administrator's key with the role owner"


class NeedsOwner(Forbidden):
    title = "This needs the role owner in the workspace"


class NeedsWiderKey(Forbidden):
    """A key creates keys only for the workspaces that it can read; an administrator's for all of the user's."""

    type, title = "needs-wider-key", "This key cannot read all the workspaces that the new key would"


class OwnNameOnly(Forbidden):
    type, title = "own-name-only", "Users create API keys in their own name only; invite the person instead"


class LongerThanItsKey(Forbidden):
    type, title = "longer-than-its-key", "A key that expires cannot create one that lives longer"


class ProtectedAdmin(Forbidden):
    type, title = "admin-protected", "Only an administrator may act on an administrator's membership and keys"


class LastOwner(Conflict):
    type, title = "last-owner", "A workspace needs at least one owner"


class LastAdministrator(Conflict):
    type, title = "last-administrator", "No administrator who can get in would be left"


class SoleOwner(Conflict):
    """`workspaces` in the problem lists them."""

    type, title = "sole-owner", "The user is the only owner of workspaces; make others owners or delete them first"


class UnknownShare(NotFound):
    """Does not distinguish a wrong token from that of a share that has ended."""

    type, title = "share-not-found", "There is no such share, or it has ended"


class TooManyReads(Problem):
    status, type, title = 429, "too-many-reads", "Too many requests for shared sessions from this address"


class UnknownInvitation(NotFound):
    type, title = "invitation-not-found", "There is no such invitation"


class InvitationUsed(Conflict):
    type, title = "invitation-used", "The invitation has already been accepted; ask for another one"


class InvitationExpired(Conflict):
    type, title = "invitation-expired", "The invitation has expired; ask for another one"


class InvitationRevoked(Conflict):
    type, title = "invitation-revoked", "The invitation has been revoked; ask for another one"


class AlreadyMember(Conflict):
    type, title = "already-member", "The user is a member of the workspace; an owner can change the role"


class NameNeeded(InvalidRequest):
    type, title = "name-needed", "The invitation has no name: give the new user's name"


class BadExpiry(InvalidRequest):
    type, title = "bad-expiry", "The expiry time is not in the future, or too far ahead"


class UnknownDeletion(NotFound):
    title = "This workspace was not deleted"


class NameNotConfirmed(InvalidRequest):
    type, title = "name-not-confirmed", "To confirm the deletion, pass the workspace's exact name as ?name="


class LastAdminKey(Conflict):
    type, title = (
        "last-admin-key",
        "No administrator could get in; first own another workspace, with a key for it or a way to sign in",
    )


class RoleAboveMember(InvalidRequest):
    type, title = "role-too-high", "A key cannot have a higher role than its user has in the workspace"


class IdempotencyKeyReused(InvalidRequest):
    type, title = "idempotency-key-reused", "This Idempotency-Key was already used for a different request"


class SecretNotRepeatable(Conflict):
    type, title = "secret-not-repeatable", "It was created, but its secret cannot be shown again; revoke it"


class BodyTooLarge(HTTPException):
    """An HTTPException rather than a Problem, because the framework passes it on when it reads a body."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"The body exceeds the {limit} bytes that this route accepts")
