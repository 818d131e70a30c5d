"""Errors on the routes of the OpenAI API, as its clients read them."""

import json

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from service_kit import problem_handlers
from service_kit.problems import Conflict, Problem, Unauthenticated, Unavailable


class Quota(Problem):
    status, type, title = 429, "budget-exceeded", "The budget is used up"


class Body(BaseModel):
    messages: list[int]


@pytest.fixture
def client():
    app = FastAPI()
    problem_handlers.install(app)
    raised = {
        "conflict": Conflict("in use"),
        "quota": Quota(final=True, headers={"Retry-After": "60"}),
        "busy": Unavailable(),
        "who": Unauthenticated(),
        "large": HTTPException(413, "too large"),
        "bug": RuntimeError("secret"),
    }

    @app.get("/v1/models/{name}")
    def fail(name: str) -> None:
        raise raised[name]

    @app.get("/v1/runs/{name}")
    def fail_elsewhere(name: str) -> None:
        raise raised[name]

    @app.post("/v1/responses")
    def read(body: Body) -> None:
        raise AssertionError(body)

    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "status", "kind", "code", "repeat"),
    [
        ("conflict", 400, "invalid_request_error", "conflict", "false"),
        ("quota", 429, "rate_limit_error", "budget_exceeded", "false"),
        ("busy", 503, "server_error", "unavailable", None),
        ("who", 401, "invalid_request_error", "invalid_api_key", "false"),
        ("large", 413, "invalid_request_error", "body_too_large", "false"),
        ("bug", 500, "server_error", "internal_error", "false"),
    ],
)
def test_an_error_has_a_type_and_says_whether_to_retry(client, name, status, kind, code, repeat):
    answer = client.get(f"/v1/models/{name}")
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (status, kind, code)
    assert answer.headers.get("x-should-retry") == repeat
    assert answer.headers["content-type"] == "application/json"
    assert "secret" not in answer.text
    assert set(error) == {"message", "type", "code", "param", "run_id"}


def test_headers_of_a_problem_are_kept(client):
    assert client.get("/v1/models/quota").headers["retry-after"] == "60"


@pytest.mark.parametrize(
    ("body", "param"),
    [({}, "messages"), ({"messages": ["x"]}, "messages.0"), ("{", None)],
)
def test_an_invalid_body_is_a_400_that_names_the_field(client, body, param):
    sent = body if isinstance(body, str) else json.dumps(body)
    answer = client.post("/v1/responses", content=sent, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert answer.json()["error"]["message"].startswith("The request is not valid")


def test_other_routes_return_problems(client):
    answer = client.get("/v1/runs/conflict")
    assert (answer.status_code, answer.json()["type"]) == (409, "conflict")
    assert answer.headers["content-type"] == "application/problem+json"
