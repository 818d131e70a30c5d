"""Every method of the client parses the model that the OpenAPI document names for its route."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID

import httpx2
import pytest
from pydantic import BaseModel

import contracts
from attractor_client import AttractorClient
from attractor_client.http.upload import FileToUpload

API = json.loads((Path(contracts.__file__).parent / "api" / "attractor.openapi.json").read_text(encoding="utf-8"))
# Methods without a route of their own, or that return bytes or a stream of events.
WITHOUT_MODEL = {
    *("documents.original", "documents.download", "graph.export", "runs.events", "sessions.ask", "sessions.export"),
    *("artifacts.export", "sessions.image", "feedback.export", "memories.export", "shares.url", "events.follow"),
}


class Streamed(Exception):
    """Ends a call where its response would be streamed."""


class Parsed(Exception):
    """Ends a call where its response would be parsed."""

    def __init__(self, method: str, place: str, kind: type[BaseModel]) -> None:
        super().__init__(method, place)
        self.method, self.place, self.kind = method, place, kind


def methods(client: AttractorClient) -> Iterator[tuple[str, Any]]:
    parts = {name: part for name, part in vars(client).items() if name != "transport"} | {"tools": client.graph.tools}
    for name, part in parts.items():
        for method, function in inspect.getmembers(part, inspect.ismethod):
            if not method.startswith("_") or method == "__call__":
                yield f"{name}.{method}", function


def argument(kind: Any) -> Any:
    """Returns a dummy argument of this type; nothing is sent, so its content does not matter."""
    if inspect.isclass(kind) and issubclass(kind, BaseModel):
        made = kind.model_construct(**{name: UUID(int=1) for name in kind.model_fields if name.endswith("id")})
        return made.model_copy(update={"version": 1, "name": "x"})
    if kind is UUID:
        return UUID(int=1)
    if type(None) in get_args(kind):
        return argument(get_args(kind)[0])
    if get_origin(kind) is Sequence:
        return [argument(one) for one in get_args(kind)]
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return next(iter(kind))
    if kind is str:
        return "turns-1-1"  # the form of a dead letter's id, which is validated before sending
    return {bytes: b"x", bool: True, float: 1.0, int: 1}.get(kind) or (("a.md", b"x") if kind == FileToUpload else None)


async def called(client: AttractorClient, function: Any, monkeypatch: pytest.MonkeyPatch) -> Parsed | None:
    """Returns the route and the model with which the method would parse its response; None if it parses none."""
    sent: list[tuple[str, str]] = []

    async def send(method: str, place: str, **_: Any) -> httpx2.Response:
        sent.append((method, place))
        return httpx2.Response(200)

    def parse(_: httpx2.Response, kind: type[BaseModel]) -> None:
        raise Parsed(*sent[-1], kind)

    def stream(*_: Any, **__: Any) -> None:
        raise Streamed

    monkeypatch.setattr(client.transport, "stream", stream)
    monkeypatch.setattr(client.transport, "send", send)
    monkeypatch.setattr(client.transport, "parse", parse)
    hints, arguments = get_type_hints(function), []
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.VAR_POSITIONAL or one.kind is one.POSITIONAL_OR_KEYWORD:
            arguments.append(argument(hints[one.name]))
    one_is_needed = {"title": "T"} if function.__qualname__ == "Documents.update" else {}
    try:
        answer = function(*arguments, **one_is_needed)
        await (anext(answer) if isinstance(answer, AsyncIterator) else answer)
    except Parsed as found:
        return found
    except Streamed:
        return None
    return None


def named(method: str, place: str) -> set[str]:
    """Returns the names of the models for a route's successful responses in the OpenAPI document."""
    for path, operations in API["paths"].items():
        if re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), place):
            responses = operations[method.lower()]["responses"]
            schemas = [
                answer["content"]["application/json"]["schema"]
                for status, answer in responses.items()
                if status.startswith("2") and "application/json" in answer.get("content", {})
            ]
            return {one["$ref"].rpartition("/")[2] for schema in schemas for one in schema.get("anyOf", [schema])}
    raise AssertionError(f"there is no route {method} {place}")


async def test_each_method_parses_the_response_model_of_its_route(monkeypatch: pytest.MonkeyPatch) -> None:
    async with AttractorClient() as client:
        read, unread = {}, set()
        for name, function in methods(client):
            if name in WITHOUT_MODEL:
                continue
            if found := await called(client, function, monkeypatch):
                read[name] = found
            elif get_type_hints(function)["return"] is not type(None):
                unread.add(name)
    assert unread == set()
    wrong = {
        name: (found.kind.__name__, models)
        for name, found in read.items()
        if re.sub(r"\W", "_", found.kind.__name__) not in (models := named(found.method, found.place))
    }
    assert wrong == {}
    assert len(read) > 50
