"""Errors in the format of the OpenAI API, for the routes that its clients call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from fastapi.responses import JSONResponse

from contracts.openai_errors import OpenAIError, OpenAIErrorBody

_NAME = re.compile(r"[a-z_]{2,}|[0-9]+")
# The SDK retries after these, and after 408 and 409, which are never sent here.
REPEATABLE = frozenset({429, 502, 503, 504})
# A conflict must not be retried unchanged; the OpenAI API has no 422.
STATUSES = {409: 400, 422: 400}
CODES = {"invalid-api-key": "invalid_api_key", "unauthenticated": "invalid_api_key"}


def error_of(
    status: int,
    slug: str,
    title: str,
    detail: str | None,
    param: str | None = None,
    code: str | None = None,
    run_id: str | None = None,
) -> OpenAIError:
    """Returns the body of an error: `code` is the problem's type with underscores."""
    kind = "server_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
    code = code or CODES.get(slug, slug.replace("-", "_"))
    message = title if detail is None or detail == title else f"{title}: {detail}"
    return OpenAIError(error=OpenAIErrorBody(message=message, type=kind, code=code, param=param, run_id=run_id))


def rendered(
    status: int,
    slug: str,
    title: str,
    detail: str | None,
    headers: Mapping[str, str] | None,
    trace_id: str | None,
    extra: Mapping[str, Any],
) -> JSONResponse:
    """Returns the response. `x-should-retry: false` keeps the SDK from retrying what cannot succeed.

    `param` is the problem's, or the location of the first error in an invalid body.
    """
    status = STATUSES.get(status, status)
    param = extra.get("param")
    if param is None and extra.get("errors"):
        param = _field(str(extra["errors"][0]["at"]))
    sent_headers = dict(headers or {})
    if status not in REPEATABLE or extra.get("final"):
        sent_headers["x-should-retry"] = "false"
    if trace_id:
        sent_headers["x-request-id"] = trace_id
    body = error_of(status, slug, title, detail, param, extra.get("code"), extra.get("run_id"))
    return JSONResponse(body.model_dump(mode="json"), status, sent_headers)


def _field(place: str) -> str | None:
    """Returns the body's field that an error is about, without what validators add to its location."""
    steps = place.split(".")[1:]
    if not steps or steps[0].isdigit():  # a position in a body that is not JSON
        return None
    return ".".join(takewhile(_NAME.fullmatch, steps)) or None
