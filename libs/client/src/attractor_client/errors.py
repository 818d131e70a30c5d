"""The errors that calls raise. Each is an `AttractorError`; subclasses let callers tell them apart.

The fields are the members of the problem that the server sent (RFC 9457).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import httpx2
from pydantic import ValidationError

from contracts.backoff import retry_after_seconds
from contracts.base import ProblemBody


class AttractorError(Exception):
    """The base of all errors. `type` is a stable slug to compare with; `status` is None if there was no response.

    `extra` holds the problem's members beyond those of RFC 9457; `retry_after` is in seconds.
    """

    def __init__(
        self,
        title: str,
        detail: str | None = None,
        *,
        type: str = "client-error",
        status: int | None = None,
        instance: str | None = None,
        trace_id: str | None = None,
        retry_after: float | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{title}: {detail}" if detail else title)
        self.title, self.detail, self.type, self.status = title, detail, type, status
        self.instance, self.trace_id, self.retry_after, self.extra = instance, trace_id, retry_after, extra or {}


class Unreachable(AttractorError):
    """There was no response. `sent` is False if the request certainly did not reach the server."""

    def __init__(self, title: str, detail: str | None = None, *, sent: bool) -> None:
        super().__init__(title, detail, type="unreachable")
        self.sent = sent


class StreamInterrupted(AttractorError):
    """A stream of events broke off, and reconnecting failed. The run itself may continue."""


class UnexpectedAnswer(AttractorError):
    """The response does not match the contract: another kind of server, or a newer version."""


class NotSendable(AttractorError):
    """The request could not be sent, for instance because a file changed its size while it was read."""


class InvalidRequest(AttractorError):
    """400, 415, 422: the request is not valid; retrying does not help."""


class Unauthenticated(AttractorError):
    """401: there is no API key, or it is unknown or revoked."""


class Forbidden(AttractorError):
    """403: the key's role does not allow it."""


class NotFound(AttractorError):
    """404: the key's workspace does not have this resource."""


class Conflict(AttractorError):
    """409: the resource's state does not allow this."""


class StaleVersion(AttractorError):
    """412: the resource has changed since it was read."""


class TooLarge(AttractorError):
    """413: the body, or the number of files, is over the server's limit."""


class RateLimited(AttractorError):
    """429: wait `retry_after` seconds."""


class Unavailable(AttractorError):
    """502, 503, 504: the server, or a service behind it, cannot answer now."""


BY_STATUS: dict[int, type[AttractorError]] = {
    400: InvalidRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: StaleVersion,
    413: TooLarge,
    415: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def from_response(response: httpx2.Response) -> AttractorError:
    """Returns the error for an unsuccessful response, whose body must have been read."""
    if response.is_redirect:
        place = response.headers.get("location", "another address")
        return UnexpectedAnswer("The server redirects", f"use its own address: {place}", status=response.status_code)
    problem = _problem(response)
    return BY_STATUS.get(response.status_code, AttractorError)(
        problem.title,
        problem.detail,
        type=problem.type,
        status=response.status_code,
        instance=problem.instance,
        trace_id=problem.trace_id,
        retry_after=retry_after_seconds(response.headers.get("retry-after")),
        extra=problem.model_extra,
    )


def _problem(response: httpx2.Response) -> ProblemBody:
    """Returns the problem in the body, or one made from the status line if a proxy answered without one."""
    if response.headers.get("content-type", "").partition(";")[0].strip().endswith("json"):
        try:
            return ProblemBody.model_validate_json(response.content)
        except ValidationError:
            pass  # JSON, but not a problem: use the status line
    status = response.status_code
    title = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown status"
    return ProblemBody(type="http-error", title=f"HTTP {status} {title}", status=status)
