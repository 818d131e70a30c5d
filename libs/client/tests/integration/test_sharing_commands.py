"""attractor feedback, and the commands that share sessions."""

from __future__ import annotations

from json import loads
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from starlette.responses import Response

NOW = "2026-03-01T10:00:00Z"
SESSION, MESSAGE, SHARE = str(UUID(int=5)), str(UUID(int=32)), str(UUID(int=61))
TOKEN = f"ats_{'0' * 64}_{'s' * 43}"
SHARED = {"id": SHARE, "session_id": SESSION, "message_id": MESSAGE, "title": "T", "created_at": NOW, "expires_at": NOW}
SAID = {"rating": "down", "reasons": ["outdated"], "comment": "It moved", "share_content": True} | dict.fromkeys(
    ("created_at", "updated_at"), NOW
)


def page(*items: object) -> dict[str, object]:
    return {"items": list(items), "next_cursor": None}


def body(server: Any, method: str, path: str) -> Any:
    return loads(server.calls(method, path)[-1].body)


def test_an_answer_is_rated_and_the_rating_is_withdrawn(settled: Any, attractor: Any) -> None:
    place = f"/v1/messages/{MESSAGE}/feedback"
    settled.on("PUT", place, SAID)
    settled.on("DELETE", place, Response(status_code=204))
    options = ("--reason", "outdated", "--reason", "long", "--comment", "It moved", "--share-content")
    assert attractor("feedback", "give", MESSAGE, "down", *options).out == f"{MESSAGE} down\n"
    sent = {"rating": "down", "reasons": ["outdated", "long"], "comment": "It moved", "share_content": True}
    assert body(settled, "PUT", place) == sent
    assert attractor("feedback", "give", MESSAGE, "up", "--json").json["rating"] == "down"
    assert attractor("feedback", "give", MESSAGE, "sideways").code == 2
    assert attractor("feedback", "give", MESSAGE, "up", "--reason", "r" * 101).code == 2
    assert attractor("feedback", "withdraw", MESSAGE).out == f"{MESSAGE} no longer rated\n"
    assert attractor("feedback", "withdraw", MESSAGE, "--json").json == {"withdrawn": MESSAGE}


def test_owners_list_and_export_feedback(settled: Any, attractor: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    entry = SAID | {"message_id": MESSAGE, "user_id": SESSION, "mode": None, "question": "Where?", "answer": "There."}
    hidden = entry | {"share_content": False, "question": None, "answer": None}
    settled.on("GET", "/v1/feedback", page(entry, hidden))
    settled.on("GET", "/v1/feedback/export", Response(b"rows\n", media_type="text/csv"))
    out = attractor("feedback", "list", "--rating", "down").out
    assert all(text in out for text in ("outdated", "It moved", "Where?", "(not shared)"))
    assert settled.calls("GET", "/v1/feedback")[-1].query["rating"] == "down"
    assert attractor("feedback", "list", "--json").json[1]["answer"] is None
    assert attractor("feedback", "export", "f.csv").out == "f.csv: 5 B\n"
    assert (tmp_path / "f.csv").read_bytes() == b"rows\n"
    assert attractor("feedback", "export", "--format", "jsonl", "--rating", "up", "-").out == "rows\n"
    queries = [call.query for call in settled.calls("GET", "/v1/feedback/export")]
    assert [(one["format"], one.get("rating")) for one in queries] == [("csv", None), ("jsonl", "up")]
    assert attractor("feedback", "export", "f.xls").code == 2


def test_a_share_is_created_listed_and_ended(settled: Any, attractor: Any, json: Any) -> None:
    place = f"/v1/sessions/{SESSION}/shares"
    settled.on("POST", place, json(SHARED | {"audience": "link", "token": TOKEN}, 201))
    settled.on("GET", "/v1/shares", page(SHARED | {"audience": "link"}))
    settled.on("DELETE", f"/v1/shares/{SHARE}", Response(status_code=204))
    out = attractor("sessions", "share", SESSION, "--link", "--expires", "7d", "--message", MESSAGE).out
    assert f"/v1/shared/{TOKEN}\n" in out
    assert "whoever has this link" in out
    sent = body(settled, "POST", place)
    assert (sent["audience"], sent["message_id"], "expires_at" in sent) == ("link", MESSAGE, True)
    assert attractor("sessions", "share", SESSION, "--json").json["url"].endswith(TOKEN)
    assert body(settled, "POST", place)["audience"] == "members"
    assert attractor("sessions", "share", SESSION, "--expires", "soon").code == 2
    assert SHARE in attractor("sessions", "shares", "--session", SESSION).out
    assert settled.calls("GET", "/v1/shares")[-1].query["session_id"] == SESSION
    assert attractor("sessions", "unshare", SHARE).out == "1 ended\n"
    assert attractor("sessions", "unshare", SHARE, "--json").json == {"ended": [SHARE]}


@pytest.mark.parametrize("given", [TOKEN, f"http://example.org/v1/shared/{TOKEN}", f"http://example.org/{TOKEN}/"])
def test_a_shared_session_can_be_read(settled: Any, attractor: Any, given: str) -> None:
    citation = {
        "number": 1,
        "document_name": "a.md",
        "section": "Keys",
        "page": 3,
        "line_start": None,
        "line_end": None,
        "quote": None,
    }
    messages = [
        {"role": "user", "status": "completed", "content": "Why?", "created_at": NOW},
        {
            "role": "assistant",
            "status": "completed",
            "content": "So [1].",
            "citations": [citation | {"line_end": None}],
        },
        {"role": "assistant", "status": "completed", "content": "", "withheld": True, "mode": "extractive"},
        {"role": "assistant", "status": "cancelled", "content": ""},
    ]
    session = {"title": None, "audience": "link", "messages": [{"created_at": NOW} | one for one in messages]}
    settled.on("GET", f"/v1/shared/{TOKEN}", session | {"created_at": NOW, "expires_at": NOW})
    out = attractor("sessions", "shared", given).out
    for text in ("(no title)", "> Why?", "So [1].", "[1] a.md, Keys, page 3\n", "quotes documents", "(cancelled)"):
        assert text in out, text
    assert attractor("sessions", "shared", given, "--json").json["messages"][0]["content"] == "Why?"


def test_owners_allow_public_links(settled: Any, attractor: Any) -> None:
    settled.on("GET", "/v1/sharing", {"links": False, "version": 0})
    settled.on("PATCH", "/v1/sharing", {"links": True, "version": 1})
    assert attractor("workspaces", "sharing").out == "no session is shared by link\n"
    assert attractor("workspaces", "sharing", "--links").out == "members may share sessions by link\n"
    assert body(settled, "PATCH", "/v1/sharing") == {"links": True}
    assert attractor("workspaces", "sharing", "--no-links", "--json").json["version"] == 1


def test_owners_limit_their_workspace(settled: Any, attractor: Any, samples: Any) -> None:
    quota = {name: {"used": 1_500, "most": 5_000, "chosen": 5_000} for name in ("documents", "bytes", "sources")}
    workspace = samples.caller()["workspace"] | {"most_key_requests_per_minute": 600}
    place = f"/v1/workspaces/{workspace['id']}"
    settled.on("GET", "/v1/quota", quota)
    settled.on("PATCH", "/v1/quota", quota)
    settled.on("GET", place, workspace)
    settled.on("PATCH", place, workspace | {"key_requests_per_minute": 120, "most_key_requests_per_minute": 120})
    shown = attractor("workspaces", "limits").out
    assert "1,500" in shown
    assert "5,000" in shown
    assert settled.calls("PATCH", "/v1/quota") == []
    changed = attractor("workspaces", "limits", "--documents", "5000", "--sources", "0", "--requests", "120", "--json")
    assert changed.json["key_requests_per_minute"] == 120
    assert body(settled, "PATCH", "/v1/quota") == {"documents": 5_000, "sources": None}
    assert body(settled, "PATCH", place) == {"key_requests_per_minute": 120}
    assert attractor("workspaces", "limits", "--requests", "5").code == 2


def test_limits_name_who_has_set_those_in_force(settled: Any, attractor: Any, samples: Any) -> None:
    one = {"used": 7, "most": 5_000, "chosen": None}
    quota = {"documents": one, "bytes": one | {"chosen": 5_000}, "sources": one | {"most": None}}
    workspace = samples.caller()["workspace"]
    settled.on("GET", "/v1/quota", quota)
    settled.on("GET", f"/v1/workspaces/{workspace['id']}", workspace | {"most_key_requests_per_minute": 600})
    rows = [line.split() for line in attractor("workspaces", "limits").out.splitlines()]
    assert ["documents", "7", "5,000", "the", "operator"] in rows
    assert ["bytes", "7", "5,000", "an", "owner"] in rows
    assert ["sources", "7", "none"] in rows
    assert ["requests", "of", "a", "key", "per", "minute", "600", "the", "operator"] in rows


def test_chat_and_ask_can_start_a_temporary_session(settled: Any, attractor: Any, samples: Any, json: Any) -> None:
    settled.on("POST", "/v1/sessions", json(samples.session(), 201))
    for command in (("ask", "Why?"), ("chat",)):
        assert attractor(*command, "--temporary", "--session", SESSION).code == 2
    assert attractor("chat", "--temporary", "--continue").code == 2
    assert settled.calls("POST", "/v1/sessions") == []
    attractor("chat", "--temporary", stdin="Why?\n")
    assert body(settled, "POST", "/v1/sessions")["temporary"] is True
    attractor("ask", "Why?")
    assert not body(settled, "POST", "/v1/sessions").get("temporary")
