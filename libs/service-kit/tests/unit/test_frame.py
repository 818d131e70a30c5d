"""Problems, health, tokens and cursors of an application made with the kit."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated
from uuid import uuid4

import httpx2
import psycopg
import pytest
from deployment_keys import DeploymentKeys
from fastapi import APIRouter, FastAPI

from contracts.base import Request as Body
from contracts.base import Text
from contracts.gateway import Role
from service_kit.app import service_app
from service_kit.auth import Editor, Principal, Viewer
from service_kit.pagination import decode_cursor, encode_cursor
from service_kit.problems import MEDIA_TYPE, BadCursor, NotFound
from service_kit.settings import ServiceSettings

KEYS = DeploymentKeys()


class Echo(Body):
    text: Text


router = APIRouter()


@router.get("/v1/me")
async def me(principal: Viewer) -> dict[str, str]:
    return {"workspace": str(principal.workspace_id)}


@router.post("/v1/echo")
async def echo(body: Echo, _principal: Editor) -> dict[str, str]:
    return {"text": body.text}


@router.get("/v1/missing")
async def missing() -> None:
    raise NotFound("there is no document 7")


@router.get("/v1/broken")
async def broken() -> None:
    raise RuntimeError("password=hunter2")


@router.get("/v1/away")
async def away() -> None:
    raise psycopg.OperationalError("server closed the connection unexpectedly")


@asynccontextmanager
async def nothing(_app: FastAPI):
    yield


@pytest.fixture
def app() -> FastAPI:
    settings = ServiceSettings(port=1, database_url="postgresql://localhost:1/none", **KEYS.settings("memory"))
    return service_app("memory", settings, [router], nothing)


@pytest.fixture
def call(app, running):
    async def send(method: str, path: str, role: Annotated[Role | None, "of the caller"] = None, **more):
        headers = {}
        if role:
            token = KEYS.tokens("gateway").sign(Principal(uuid4(), uuid4(), role), "memory")
            headers = {"Authorization": f"Bearer {token}"}
        async with running(app) as client:
            return await client.request(method, path, headers=headers | more.pop("headers", {}), **more)

    return send


def problem(response: httpx2.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == MEDIA_TYPE
    return response.status_code, response.json()["type"]


@pytest.mark.parametrize(
    ("method", "path", "role", "content", "expected"),
    [
        ("GET", "/v1/missing", None, None, (404, "not-found")),
        ("GET", "/nowhere", None, None, (404, "not-found")),
        ("DELETE", "/v1/me", None, None, (405, "method-not-allowed")),
        ("GET", "/v1/me", None, None, (401, "unauthenticated")),
        ("POST", "/v1/echo", Role.viewer, b'{"text": "x"}', (403, "forbidden")),
        ("POST", "/v1/echo", Role.editor, b'{"text": "x"', (422, "invalid-request")),
        ("POST", "/v1/echo", Role.editor, b'{"text": 7}', (422, "invalid-request")),
        ("POST", "/v1/echo", Role.editor, b'{"text": "x", "more": 1}', (422, "invalid-request")),
        ("POST", "/v1/echo", Role.editor, b'{"text": "a\\u0000b"}', (422, "invalid-request")),
        ("POST", "/v1/echo", Role.editor, b'{"text": "\\ud800"}', (422, "invalid-request")),
        ("POST", "/v1/echo", Role.editor, b"\xff\xfe", (422, "invalid-request")),
    ],
)
async def test_errors_are_rendered_as_problems(call, method, path, role, content, expected):
    headers = {"content-type": "application/json"}
    assert problem(await call(method, path, role, content=content, headers=headers)) == expected


async def test_an_unexpected_error_shows_only_a_trace_id(call):
    response = await call("GET", "/v1/broken")
    assert problem(response) == (500, "internal-error")
    assert "hunter2" not in response.text
    assert response.json()["status"] == 500


async def test_a_lost_database_connection_asks_the_caller_to_retry(call):
    assert problem(await call("GET", "/v1/away")) == (503, "unavailable")


async def test_the_workspace_comes_from_the_token(call):
    response = await call("GET", "/v1/me", Role.viewer)
    assert response.status_code == 200


async def test_readiness_reports_version_and_facts_even_if_a_part_of_the_service_fails(app, running):
    async def down() -> None:
        raise ConnectionError("refused")

    async def newest() -> str:
        return "0031_project_status"

    app.state.health.add("redis", down)
    app.state.health.add_fact("schema_version", newest)
    app.state.health.add_fact("walls", down)
    async with running(app) as client:
        told = (await client.get("/readyz")).json()
    assert told == {
        "status": "not_ready",
        "failures": {"redis": "ConnectionError"},
        "version": version("attractor-service-kit"),
        "schema_version": "0031_project_status",
    }


async def test_readiness_names_the_failing_check(app, running):
    async def down() -> None:
        raise ConnectionError("refused")

    app.state.health.add("database", down)
    async with running(app) as client:
        assert (await client.get("/livez")).status_code == 200
        response = await client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["failures"] == {"database": "ConnectionError"}
        assert "attractor_http_request_seconds" in (await client.get("/metrics")).text


def test_cursors_round_trip_and_foreign_ones_are_refused():
    at, item = datetime.now(UTC), uuid4()
    assert decode_cursor(encode_cursor(at, item)) == (at, item)
    assert decode_cursor(None) == (None, None)
    for strange in ("x", "é", "W10", "bnVsbA", "WzEsMl0"):
        with pytest.raises(BadCursor):
            decode_cursor(strange)
