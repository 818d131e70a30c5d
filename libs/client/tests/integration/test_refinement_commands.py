"""attractor graph estimate and refinement."""

from __future__ import annotations

import json as jsonlib
from typing import Any
from uuid import UUID

import pytest
from starlette.responses import Response

DOCUMENT = str(UUID(int=1))
PLACE = "/v1/graph/refinement"
ESTIMATE = {
    "model": "small",
    "documents": 2,
    "chunks": 12,
    "refined_chunks": 2,
    "failed_chunks": 0,
    "unread_documents": 0,
    "calls": 10,
    "input_tokens": 9_000,
    "output_tokens": 2_000,
    "most_output_tokens": 12_000,
    "most_tokens": 21_000,
}
STATUS = {
    "enabled": True,
    "state": "running",
    "model": "small",
    "chunks": 12,
    "refined_chunks": 6,
    "failed_chunks": 1,
    "pending_chunks": 5,
    "unapplied_documents": 0,
    "max_tokens": 21_000,
    "calls": 4,
    "input_tokens": 3_600,
    "output_tokens": 800,
    "last_error": "chunk c1: no",
    "retry_at": None,
}


@pytest.fixture
def refining(settled: Any) -> Any:
    settled.on("POST", "/v1/graph/estimates", ESTIMATE)
    settled.on("GET", PLACE, STATUS)
    settled.on("GET", f"{PLACE}/settings", {"enabled": False, "max_tokens": 5, "version": 4})
    settled.on("PATCH", f"{PLACE}/settings", {"enabled": True, "max_tokens": 9, "version": 5})
    settled.on("DELETE", f"{PLACE}/results", {"results": 6, "documents": 2})
    return settled


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("estimate",), "2000, at most 12000"),
        (("estimate", "-d", DOCUMENT), "9000"),
        (("refinement", "show"), "4400 of 21000"),
        (("refinement", "on", "--max-tokens", "9", "--yes"), "on"),
        (("refinement", "off"), "refinement"),
        (("refinement", "remove", "--yes"), "6 results deleted"),
    ],
)
def test_each_command_prints_text_or_json(refining: Any, attractor: Any, arguments: tuple[str, ...], said: str) -> None:
    ran = attractor("graph", *arguments)
    assert (ran.code, said in ran.out) == (0, True), ran.err + ran.out
    assert attractor("graph", *arguments, "--json").json
    assert refining.received


def test_refinement_is_enabled_within_the_estimate(refining: Any, attractor: Any) -> None:
    ran = attractor("graph", "refinement", "on", "--within-estimate", "--yes")
    assert "10 calls, 11000 to 21000 tokens" in ran.err
    sent = refining.calls("PATCH", f"{PLACE}/settings")[-1]
    assert jsonlib.loads(sent.body) == {"enabled": True, "max_tokens": 4_400 + 21_000}


def test_a_stale_version_of_the_settings_is_refused(refining: Any, attractor: Any) -> None:
    assert attractor("graph", "refinement", "on", "--max-tokens", "9", "--yes").code == 0
    sent = refining.calls("PATCH", f"{PLACE}/settings")[-1]
    assert (jsonlib.loads(sent.body), sent.headers["if-match"]) == ({"enabled": True, "max_tokens": 9}, '"4"')


def test_a_refusal_by_the_service_is_a_one_line_error(refining: Any, attractor: Any, problem: Any) -> None:
    refused: Response = problem(409, "no-chat-model", "No chat model is configured in this deployment")
    refining.on("PATCH", f"{PLACE}/settings", refused)
    ran = attractor("graph", "refinement", "on", "--max-tokens", "1", "--yes", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert "No chat model" in ran.err
