"""What calls raise. Every error is an `AttractorError`; its subclasses are there for callers that branch.

The fields are those of the problem that the server sent (RFC 9457).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import httpx2
from pydantic import ValidationError

from contracts.backoff import retry_after_seconds
from contracts.base import ProblemBody


class AttractorError(Exception):
    """`type` is a stable slug to compare with. `status` is None when no answer came.

    `extra` holds what a problem carries beyond RFC 9457's members; `retry_after` is in seconds.
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
    """No answer came. `sent` is False when the request certainly did not reach the server."""

    def __init__(self, title: str, detail: str | None = None, *, sent: bool) -> None:
        super().__init__(title, detail, type="unreachable")
        self.sent = sent


class StreamInterrupted(AttractorError):
    """A stream of events broke off, and connecting again did not help. The run itself may go on."""


class UnexpectedAnswer(AttractorError):
    """The answer is not what the contract says: another kind of server, or a newer one."""


class NotSendable(AttractorError):
    """The request could not be written, for instance because a file changed its size while it was sent."""


class InvalidRequest(AttractorError):
    """400, 415, 422: the request is not valid; asking again does not help."""


class Unauthenticated(AttractorError):
    """401: there is no API key, or it is unknown or revoked."""


class Forbidden(AttractorError):
    """403: the key's role does not allow it."""


class NotFound(AttractorError):
    """404: there is no such thing in the key's workspace."""


class Conflict(AttractorError):
    """409: the thing is not in a state that allows this."""


class StaleVersion(AttractorError):
    """412: the thing has changed since it was read."""


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
    """The error for an answer that is not a success; its body must have been read."""
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
    """The problem in the body, or what the status line says where something in between answered without one."""
    if response.headers.get("content-type", "").partition(";")[0].strip().endswith("json"):
        try:
            return ProblemBody.model_validate_json(response.content)
        except ValidationError:
            pass  # JSON, but no problem: the status line has to do
    status = response.status_code
    title = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown status"
    return ProblemBody(type="http-error", title=f"HTTP {status} {title}", status=status)
