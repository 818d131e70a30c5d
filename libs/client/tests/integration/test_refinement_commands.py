"""attractor graph estimate, refine and refinement."""

from __future__ import annotations

import json as jsonlib
from typing import Any
from uuid import UUID

import pytest
from starlette.responses import Response

RUN, DOCUMENT = str(UUID(int=8)), str(UUID(int=1))
NOW = "2026-03-01T10:00:00Z"
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
    "cost": 0.029,
    "most_cost": 0.129,
    "currency": "USD",
}
SHOWN = {
    "id": RUN,
    "state": "running",
    "follow": False,
    "model": "small",
    "max_tokens": 21_000,
    "max_calls": 10,
    "calls": 4,
    "input_tokens": 3_600,
    "output_tokens": 800,
    "cost": 0.0116,
    "currency": "USD",
    "last_error": "passage c1: no",
    "retry_at": None,
    "created_by": RUN,
    "created_at": NOW,
    "started_at": NOW,
    "ended_at": None,
}
STATUS = {
    "enabled": True,
    "model": "small",
    "chunks": 12,
    "refined_chunks": 6,
    "failed_chunks": 1,
    "pending_chunks": 5,
    "unapplied_documents": 0,
    "run": SHOWN,
}
FAILED = {"chunk_id": "c1", "document_id": DOCUMENT, "attempts": 3, "error": "no JSON", "failed_at": NOW}


@pytest.fixture
def refining(settled: Any) -> Any:
    settled.on("POST", "/v1/graph/estimates", ESTIMATE)
    settled.on("GET", PLACE, STATUS)
    settled.on("GET", f"{PLACE}/settings", {"enabled": False, "max_tokens": 5, "max_calls": None, "version": 4})
    settled.on("PATCH", f"{PLACE}/settings", {"enabled": True, "max_tokens": 9, "max_calls": None, "version": 5})
    settled.on("GET", f"{PLACE}/runs", {"items": [SHOWN], "next_cursor": None})
    settled.on("POST", f"{PLACE}/runs", SHOWN)
    for verb in ("pause", "resume", "cancel"):
        settled.on("POST", f"{PLACE}/runs/{RUN}/{verb}", SHOWN)
    settled.on("GET", f"{PLACE}/failures", {"items": [FAILED], "next_cursor": None})
    settled.on("POST", f"{PLACE}/failures/replay", {"chunks": 1})
    settled.on("DELETE", f"{PLACE}/results", {"results": 6, "documents": 2})
    return settled


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("estimate",), "2000, at most 12000"),
        (("estimate", "-d", DOCUMENT), "0.03 to 0.13 USD"),
        (("refine", "--max-calls", "10"), "4 of 10"),
        (("refinement", "show"), "passage c1: no"),
        (("refinement", "on", "--max-tokens", "9"), "on"),
        (("refinement", "off"), "refinement"),
        (("refinement", "runs"), "running"),
        (("refinement", "pause", RUN), "4400 of 21000"),
        (("refinement", "resume", RUN, "--max-tokens", "50000"), RUN),
        (("refinement", "cancel", RUN), RUN),
        (("refinement", "failures"), "no JSON"),
        (("refinement", "replay", "c1"), "1 passages"),
        (("refinement", "remove", "--yes"), "6 results removed"),
    ],
)
def test_each_command_prints_for_people_and_for_programs(
    refining: Any, attractor: Any, arguments: tuple[str, ...], said: str
) -> None:
    ran = attractor("graph", *arguments)
    assert (ran.code, said in ran.out) == (0, True), ran.err + ran.out
    assert attractor("graph", *arguments, "--json").json
    assert refining.received


def test_a_run_is_started_within_what_the_estimate_says(refining: Any, attractor: Any) -> None:
    ran = attractor("graph", "refine", "--within-estimate", "--document", DOCUMENT)
    assert "10 calls, 11000 to 21000 tokens, 0.03 to 0.13 USD" in ran.err
    assert jsonlib.loads(refining.calls("POST", f"{PLACE}/runs")[-1].body) == {
        "document_ids": [DOCUMENT],
        "max_tokens": 21_000,
        "max_calls": 10,
        "follow": False,
    }


def test_settings_change_only_where_they_are_the_newest(refining: Any, attractor: Any) -> None:
    assert attractor("graph", "refinement", "on", "--max-tokens", "9").code == 0
    sent = refining.calls("PATCH", f"{PLACE}/settings")[-1]
    assert (jsonlib.loads(sent.body), sent.headers["if-match"]) == ({"enabled": True, "max_tokens": 9}, '"4"')


def test_what_the_service_refuses_is_one_line(refining: Any, attractor: Any, problem: Any) -> None:
    refused: Response = problem(409, "refinement-off", "Refinement is not turned on in this workspace")
    refining.on("POST", f"{PLACE}/runs", refused)
    ran = attractor("graph", "refine", "--max-calls", "1", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert "not turned on" in ran.err
