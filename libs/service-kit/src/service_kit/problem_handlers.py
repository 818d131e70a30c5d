"""Renders problems as RFC 9457 responses."""

from __future__ import annotations

import logging
from typing import Any

import psycopg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from contracts.base import ProblemBody
from contracts.openai_errors import is_openai_path
from service_kit import openai_errors
from service_kit.problems import MEDIA_TYPE, Problem, Unavailable
from service_kit.tracing import current_trace_id

SLUGS = {
    400: "bad-request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    413: "body-too-large",
    415: "unsupported-media-type",
    422: "invalid-request",
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
log = logging.getLogger(__name__)


def render(
    status: int, slug: str, title: str, detail: str | None, instance: str, headers: dict[str, str] | None, **extra: Any
) -> JSONResponse:
    """Returns the response for a problem, with the trace id by which an operator finds it in the logs.

    On the routes of the OpenAI API it has the format that their clients expect.
    """
    if is_openai_path(instance):
        return openai_errors.rendered(status, slug, title, detail, headers, current_trace_id(), extra)
    body = ProblemBody(
        type=slug, title=title, status=status, detail=detail, instance=instance, trace_id=current_trace_id(), **extra
    )
    return JSONResponse(body.model_dump(mode="json", exclude_none=True), status, headers, MEDIA_TYPE)


async def on_problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return render(error.status, error.type, error.title, error.detail, request.url.path, error.headers, **error.extra)


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    slug = SLUGS.get(error.status_code, "http-error")
    headers = dict(error.headers) if error.headers else None
    if error.status_code == 405:
        headers = {"Allow": ", ".join(_allowed_methods(request))}
    return render(error.status_code, slug, str(error.detail), None, request.url.path, headers)


def _allowed_methods(request: Request) -> list[str]:
    """Returns the methods of all routes of this path; the framework names only those of the first."""
    matches = (
        (method, route.matches({**request.scope, "method": method}))
        for method in METHODS
        for route in request.app.routes
    )
    return sorted({method for method, (match, _) in matches if match is Match.FULL})


async def on_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """Responds 422 with each error's location and message, without the values, which may be secrets."""
    assert isinstance(error, RequestValidationError)
    errors = [{"at": ".".join(map(str, one["loc"])), "message": one["msg"]} for one in error.errors()]
    detail = "; ".join(f"{one['at']}: {one['message']}" for one in errors[:5])
    return render(
        422, "invalid-request", "The request is not valid", detail, request.url.path, None, errors=errors[:50]
    )


async def on_database_away(request: Request, error: Exception) -> JSONResponse:
    """Responds 503: a database that goes away during a request is neither the caller's mistake nor a bug of ours."""
    log.warning("database error", exc_info=error, extra={"path": request.url.path})
    return await on_problem(request, Unavailable("the database did not complete the transaction"))


async def on_unexpected(request: Request, error: Exception) -> JSONResponse:
    """Responds 500 with a trace id and logs the stack; the outermost boundary."""
    log.error("unexpected error", exc_info=error, extra={"path": request.url.path})
    return render(500, "internal-error", "Something went wrong here", None, request.url.path, None)


def install(app: FastAPI) -> None:
    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_invalid_request)
    app.add_exception_handler(psycopg.OperationalError, on_database_away)
    app.add_exception_handler(Exception, on_unexpected)
