"""Errors as RFC 9457 problems: raise a `Problem` anywhere, one handler (`problem_handlers`) renders it."""

from __future__ import annotations

from typing import Any, ClassVar

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """An error reported to the caller. Subclasses set `status`, `type` and `title`."""

    status: ClassVar[int] = 500
    type: ClassVar[str] = "internal-error"
    title: ClassVar[str] = "Something went wrong here"

    def __init__(self, detail: str | None = None, *, headers: dict[str, str] | None = None, **extra: Any) -> None:
        super().__init__(detail or self.title)
        self.detail, self.headers, self.extra = detail, headers, extra


class NotFound(Problem):
    status, type, title = 404, "not-found", "There is no such resource in this workspace"


class WorkspaceGone(NotFound):
    """Raised when a row is written after the workspace has been deleted."""

    type, title = "workspace-deleted", "The workspace is deleted"


class Unauthenticated(Problem):
    status, type, title = 401, "unauthenticated", "A valid credential is required"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": "Bearer"})  # required by RFC 9110, 15.5.2


class Forbidden(Problem):
    status, type, title = 403, "forbidden", "The role of this key does not allow this"


class Conflict(Problem):
    status, type, title = 409, "conflict", "The resource is not in a state that allows this"


class PreconditionFailed(Problem):
    status, type, title = 412, "stale-version", "The resource has changed since it was read"


class InvalidRequest(Problem):
    status, type, title = 422, "invalid-request", "The request is not valid"


class BadCursor(InvalidRequest):
    type, title = "bad-cursor", "The cursor was not issued by this list"


class Unavailable(Problem):
    status, type, title = 503, "unavailable", "A required component is unavailable; try again"


class ServiceSilent(Unavailable):
    """Another service did not give a usable response; the detail names it and says why."""

    type, title = "service-silent", "A required service did not answer"
