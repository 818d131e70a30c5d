"""attractor usage"""

from __future__ import annotations

from typing import Any
from uuid import UUID

ENTRY = {"day": "2026-03-01", "user_id": None, "key_id": None, "provider": "operator", "model": "small"} | {
    "calls": 3,
    "input_tokens": 12_000,
    "output_tokens": 345,
    "cost": 0.5,
    "estimated_calls": 1,
}
BUDGET = {"subject": "user", "most": 20_000, "used": 12_345, "reserved": 0, "resets_at": "2026-03-02T00:00:00Z"}
REPORT = {"since": "2026-02-01", "until": "2026-03-01", "items": [ENTRY], "budgets": [BUDGET]}


def test_usage_is_shown_with_the_remaining_budget(settled: Any, attractor: Any) -> None:
    settled.on("GET", "/v1/usage", REPORT)
    shown = attractor("usage", "--by", "model", "--since", "2026-02-01")
    for text in ("small of operator", "12,000", "345", "0.5000", "1 estimated"):
        assert text in shown.out
    assert "12,345 of 20,000 tokens of the user until " in shown.err
    [asked] = [call.query for call in settled.calls("GET", "/v1/usage")]
    assert (asked["by"], asked["since"], "until" in asked) == ("model", "2026-02-01", False)
    assert attractor("usage", "--json").json["items"][0]["calls"] == 3
    assert attractor("usage", "--since", "yesterday").code == 2


def test_owners_list_everyones_runs_and_what_they_used(settled: Any, attractor: Any) -> None:
    took = {"calls": 1, "input_tokens": 12_000, "output_tokens": 345, "cost": 0.5}
    run = {"id": str(UUID(int=7)), "user_id": str(UUID(int=8)), "status": "failed", "mode": None, "attempts": 1} | {
        "error_type": "budget-exceeded",
        "created_at": "2026-03-01T00:00:00Z",
        "started_at": None,
        "finished_at": None,
    }
    settled.on("GET", "/v1/usage/runs", {"items": [run | {"usage": took}, run], "next_cursor": None})
    shown = attractor("runs", "list", "--everyone", "--status", "failed").out
    for text in (str(UUID(int=8)), "12,000", "345", "0.5000", "budget-exceeded"):
        assert text in shown, text
    assert [call.query["status"] for call in settled.calls("GET", "/v1/usage/runs")] == ["failed"]
    assert attractor("runs", "list", "--everyone", "--json").json[1]["usage"] is None
    assert attractor("runs", "list", "--everyone", "--session", str(UUID(int=9))).code == 2
