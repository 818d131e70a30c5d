"""What routes are given."""

from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from service_kit.request_headers import IdempotencyKey
from service_kit.routes import from_state


def test_a_route_is_given_what_its_own_application_keeps() -> None:
    answers = []
    for greeting in ("hello", "good day"):
        app = FastAPI()
        app.state.greeting = greeting

        @app.get("/")
        async def greet(greeting: Annotated[str, from_state("greeting")]) -> str:
            return greeting

        with TestClient(app) as client:
            answers.append(client.get("/").json())
    assert answers == ["hello", "good day"]


@pytest.mark.parametrize(("key", "status"), [("order-17", 200), ("", 422), ("order 17", 422), ("k" * 201, 422)])
def test_an_idempotency_key_has_at_most_200_visible_characters(key: str, status: int) -> None:
    app = FastAPI()

    @app.post("/")
    async def create(key: IdempotencyKey) -> str | None:
        return key

    with TestClient(app) as client:
        assert client.post("/", headers={"Idempotency-Key": key}).status_code == status
        assert client.post("/").json() is None
