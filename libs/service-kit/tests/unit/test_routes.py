"""What routes are given."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI
from fastapi.testclient import TestClient

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
