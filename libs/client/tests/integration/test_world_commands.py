"""attractor world: its requests, and its output for people."""

from __future__ import annotations

from uuid import UUID

import pytest
from starlette.responses import Response

from contracts.world import WorldDocument

NOW = "2026-03-01T10:00:00Z"
SESSION = str(UUID(int=5))
DOCUMENT = WorldDocument(topics=["billing", "moon"], extra={"crew": 3})
WORLD = {"session_id": None, "version": 4, "document": DOCUMENT, "created_at": NOW, "updated_at": NOW}
EVENT = {
    "version": 2,
    "kind": "operation",
    "op": "add",
    "path": "/topics",
    "value": "moon",
    "previous": [],
    "existed": True,
    "repairs": [],
    "created_by": SESSION,
    "run_id": None,
    "created_at": NOW,
}


def test_text_output_shows_the_document_its_history_and_a_diff(server, attractor) -> None:
    server.on("GET", "/v1/world", WORLD)
    repaired = {**EVENT, "kind": "repaired", "op": None, "path": None, "value": None, "repairs": ["/goals was missing"]}
    reflected = {**EVENT, "kind": "reflected", "value": "apollo"}
    server.on("GET", "/v1/world/history", {"items": [EVENT, reflected, repaired], "next_cursor": None})
    change = {"path": "/topics", "before": [], "after": ["moon"]}
    server.on("GET", "/v1/world/diff", {"from_version": 1, "to_version": 4, "changes": [change]})
    shown = attractor("world", "show", "--session", SESSION).out
    assert "moon" in shown
    assert "extra crew  3" in shown
    attractor("world", "show", "--after-run", SESSION)
    assert [one.query for one in server.calls("GET", "/v1/world")] == [{"session_id": SESSION}, {"after_run": SESSION}]
    history = attractor("world", "history").out
    assert "add /topics moon" in history
    assert "reflected: add /topics apollo" in history
    assert "repaired: /goals was missing" in history
    assert '["moon"]' in attractor("world", "diff", "1").out


def test_text_output_shows_the_status_of_the_project(server, attractor) -> None:
    happened = {"at": NOW, "kind": "world", "text": "add /goals Ship in May", "user_id": SESSION}
    status = {"world_version": 2, "project": {"name": "Apollo"}, "goals": ["Ship in May"], "decisions": []}
    status |= {"open_questions": ["Who hosts it?"], "document_count": 7, "documents": [], "activity": [happened]}
    server.on("GET", "/v1/world/status", status)
    shown = attractor("world", "status").out
    for text in ("project name    Apollo", "Who hosts it?", "documents       7", "world: add /goals Ship in May"):
        assert text in shown


def test_operations_are_sent_in_order_with_their_values(server, attractor) -> None:
    server.on("POST", "/v1/world/operations", WORLD)
    ran = attractor(
        "world",
        "apply",
        "set /project/name Apollo 11",
        "remove /extra/old",
        'merge /extra {"crew": null}',
        "set /extra/none null",
        "--if-version",
        "3",
    )
    assert ran.code == 0, ran.err
    [sent] = server.calls("POST", "/v1/world/operations")
    assert sent.headers["if-match"] == '"3"'
    assert sent.headers["idempotency-key"]
    assert sent.body.decode().startswith(
        '{"operations":[{"op":"set","path":"/project/name","value":"Apollo 11"},{"op":"remove","path":"/extra/old"},'
        '{"op":"merge","path":"/extra","value":{"crew":null}},{"op":"set","path":"/extra/none","value":null}]'
    )


def test_a_version_is_restored(server, attractor) -> None:
    server.on("POST", "/v1/world/revert", WORLD)
    assert attractor("world", "revert", "2", "--if-version", "4", "--json").json["version"] == 4
    [sent] = server.calls("POST", "/v1/world/revert")
    assert (sent.body, sent.headers["if-match"]) == (b'{"version":2}', '"4"')


@pytest.mark.parametrize("wrong", ["push /topics moon", "set", "set topics moon"])
def test_an_invalid_operation_is_a_usage_error(server, attractor, wrong: str) -> None:
    assert attractor("world", "apply", wrong).code == 2
    assert server.received == []


def test_a_failed_operation_is_named(server, attractor) -> None:
    problem = b'{"type":"world-operation-failed","title":"No","status":409,"detail":"operation 1 (test /timezone): x"}'
    failed = Response(problem, 409, media_type="application/problem+json")
    server.on("POST", "/v1/world/operations", failed)
    ran = attractor("world", "apply", "test /timezone UTC")
    assert ran.code == 1
    assert "operation 1 (test /timezone)" in ran.err
