"""Every command except ingest and ask: output for people, with --json, and failures."""

from __future__ import annotations

import json as jsonlib
import re
import stat
from pathlib import Path
from uuid import UUID

import pytest
from starlette.responses import Response

from attractor_client import VERSION
from attractor_client.http.retry import RetryPolicy

ONE = str(UUID(int=1))
SOURCE = str(UUID(int=20))
GONE = Response(status_code=204)
NOW = "2026-03-01T10:00:00Z"


def page(*items: object) -> dict[str, object]:
    return {"items": list(items), "next_cursor": None}


class TestReading:
    def cases(self, server, samples) -> dict[tuple[str, ...], str]:
        """Returns commands, each with text that must be in its output."""
        session, entity, run = samples.session(), samples.entity(), samples.run()
        message = {"id": ONE, "session_id": session["id"], "run_id": None, "role": "assistant", "content": "It is so."}
        message |= {"citations": [samples.citation()], "removed_citations": 0, "mode": None, "created_at": "2026-03-01"}
        message["created_at"] = session["created_at"]
        chunk = {"chunk_id": "c1", "document_id": ONE, "hop": 1, "path": ["UserDB", "Billing"], "score": 0.77}
        stage = samples.stage(status="failed", attempts=3, error_message="model is away")
        service = {"name": "memory", "status": "ready", "detail": None}
        found = {"query": "q", "mode": "hybrid", "hits": [samples.hit()], "good_match": True, "match": 0.9, "legs": []}
        server.on("GET", "/v1/documents", page(samples.document()))
        server.on("GET", f"/v1/documents/{ONE}", samples.detail(stages=[stage], explanation="embed failed"))
        server.on("GET", f"/v1/documents/{ONE}/chunks", page(samples.chunk(0), samples.chunk(1)))
        server.on("GET", f"/v1/documents/{ONE}/versions", page(samples.version(2), samples.version(1)))
        server.on("GET", "/v1/documents/summary", samples.summary())
        server.on("GET", "/v1/sources", page(samples.source()))
        server.on("GET", f"/v1/sources/{SOURCE}", samples.source())
        server.on("GET", f"/v1/sources/{SOURCE}/syncs", page(samples.sync()))
        server.on("GET", "/v1/embedding-spaces", page(samples.space()))
        server.on("GET", "/v1/sessions", page(session))
        server.on("GET", f"/v1/sessions/{session['id']}", session)
        server.on("GET", "/v1/runs", page(run))
        server.on("GET", f"/v1/runs/{run['id']}", run)
        server.on("GET", f"/v1/sessions/{session['id']}/messages", page(message))
        server.on("GET", "/v1/graph/entities", page(entity))
        server.on(
            "POST",
            "/v1/graph/expand",
            {"entities": [entity], "chunks": [chunk], "store": "postgres", "generation": "1"},
        )
        server.on("GET", "/v1/memories", page(samples.memory()))
        server.on("POST", "/v1/memories/recall", {"memories": [samples.memory(score=0.9)]})
        server.on("GET", f"/v1/workspaces/{UUID(int=99)}/keys", page(samples.key()))
        server.on("GET", f"/v1/workspaces/{UUID(int=99)}/invitations", page(samples.invitation()))
        server.on("GET", "/v1/users", page(samples.caller()["user"]))
        server.on("GET", "/v1/workspaces", page(samples.caller()["workspace"]))
        server.on("GET", "/v1/status", {"status": "ready", "version": "0.1.0", "services": [service]})
        entry = {"id": ONE, "at": NOW, "workspace_id": ONE, "action": "key.create", "result": "done", "status": 201}
        entry |= dict.fromkeys(("user_id", "credential_id", "target_id", "trace_id")) | {"address": "10.0.0.7"}
        server.on("GET", "/v1/audit", page(entry | {"detail": {"role": "viewer"}}))
        letter = {"id": "documents-1-0", "stream": "documents", "service": "retrieval", "type": "document.deleted.v1"}
        letter |= {"subject": ONE, "workspace_id": ONE, "reason": "the disk is full", "failed_at": NOW}
        behind = {"stream": "turns", "service": "memory", "waiting": 3, "held": 1, "oldest_seconds": 42.4}
        server.on("GET", "/v1/dead-letters", page(letter))
        server.on("POST", "/v1/dead-letters/replay", {"replayed": 1})
        server.on("GET", "/v1/backlogs", {"items": [behind]})
        server.on("POST", "/v1/search", found | {"milliseconds": 4.2})
        return {
            ("audit", "--action", "key", "--since", "2026-01-01"): "10.0.0.7",
            ("operations", "backlogs"): "42 s",
            ("operations", "dead-letters"): "the disk is full",
            ("operations", "replay"): "1 delivered again",
            ("documents", "list"): "note-1.md",
            ("documents", "show", ONE): "model is away",
            ("documents", "chunks", ONE): "Passage 1.",
            ("documents", "versions", ONE): "2026-03-01",
            ("ingest", "--watch"): "3 of 3 searchable",
            ("sources", "list"): "Handbook",
            ("sources", "show", SOURCE): "/documents/handbook",
            ("spaces", "list"): "minilm",
            ("sessions", "list"): session["id"],
            ("runs", "list", "--session", session["id"], "--status", "queued", "--status", "running"): "queued",
            ("runs", "show", run["id"]): "queued",
            ("sessions", "show", session["id"]): "[1] note-1.md, Keys, lines 10-20: “the quote”",
            ("graph", "entities", "User"): "UserDB",
            ("graph", "expand", "UserDB"): "UserDB > Billing",
            ("memories", "list"): "Frozen until March.",
            ("memories", "recall", "billing"): "0.900",
            ("keys", "list"): "viewer",
            ("invitations", "list"): "bob@example.org",
            ("users", "list"): "administrator",
            ("workspaces", "list"): "Default",
            ("status",): "memory",
            ("search", "q", "--explain"): "note-1.md, A > B",
        }

    def test_default_output_is_text(self, settled, samples, attractor) -> None:
        for arguments, expected in self.cases(settled, samples).items():
            ran = attractor(*arguments)
            assert (ran.code, ran.err) == (0, ""), arguments
            assert expected in ran.out, arguments
            assert "\x1b" not in ran.out

    @pytest.mark.parametrize("first", [True, False])
    def test_output_for_programs_is_json(self, settled, samples, attractor, first: bool) -> None:
        for arguments in self.cases(settled, samples):
            ran = attractor("--json", *arguments) if first else attractor(*arguments, "--json")
            assert (ran.code, ran.err) == (0, ""), arguments
            assert isinstance(ran.json, list if arguments[-1] == "list" or "entities" in arguments else list | dict)

    def test_empty_lists_are_reported(self, settled, attractor) -> None:
        settled.on("GET", "/v1/documents", page())
        ran = attractor("documents", "list")
        assert (ran.code, ran.out, ran.err) == (0, "", "nothing to list\n")
        assert attractor("documents", "list", "--json").json == []

    def test_a_list_stops_at_its_limit(self, settled, samples, attractor) -> None:
        settled.on("GET", "/v1/documents", page(*map(samples.document, range(1, 6))))
        assert len(attractor("documents", "list", "-n", "3", "--json").json) == 3
        assert "there may be more" in attractor("documents", "list", "-n", "3").err

    def test_document_content_cannot_control_the_terminal(self, settled, samples, attractor) -> None:
        settled.on("GET", "/v1/documents", page(samples.document(name="a\x1b]0;owned\x07\u202efdp.md")))
        out = attractor("documents", "list").out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)

    def test_status_fails_when_a_service_is_down(self, settled, attractor) -> None:
        service = {"name": "memory", "status": "unreachable", "detail": "refused"}
        settled.on("GET", "/v1/status", {"status": "degraded", "version": "0.1.0", "services": [service]})
        assert attractor("status").code == 1

    def test_status_shows_version_and_schema_of_each_service(self, settled, attractor) -> None:
        told = {"name": "memory", "status": "ready", "version": "0.2.0", "schema_version": "0031_project_status"}
        untold = {"name": "retrieval", "status": "ready"}
        settled.on("GET", "/v1/status", {"status": "ready", "version": "0.1.0", "services": [told, untold]})
        out = attractor("status").out
        assert re.search(r"memory +ready +0\.2\.0 +0031_project_status", out)
        assert "retrieval" in out

    def test_status_names_missing_walls(self, settled, attractor) -> None:
        wall = {"name": "files", "active": False, "detail": "the kernel has no Landlock"}
        service = {"name": "ingestion", "status": "ready", "detail": None, "walls": [wall]}
        settled.on("GET", "/v1/status", {"status": "ready", "version": "0.1.0", "services": [service]})
        out = attractor("status").out
        assert "MISSING" in out
        assert "the kernel has no Landlock" in out

    def test_search_reports_when_nothing_matches(self, settled, attractor) -> None:
        leg = {"leg": "dense", "candidates": 0, "milliseconds": 1.0, "error": "timeout"}
        weak = {
            "query": "q",
            "mode": "hybrid",
            "hits": [],
            "good_match": False,
            "match": 0.1,
            "legs": [leg],
            "milliseconds": 1,
        }
        settled.on("POST", "/v1/search", weak)
        ran = attractor("search", "q", "-k", "3", "--mode", "lexical", "-d", ONE)
        assert "nothing found" in ran.err
        assert "dense search skipped: timeout" in ran.err
        sent = jsonlib.loads(settled.calls("POST", "/v1/search")[0].body)
        assert (sent["k"], sent["mode"], sent["document_ids"]) == (3, "lexical", [ONE])

    def test_search_shows_a_long_passage_around_its_best_sentence(self, settled, samples, attractor) -> None:
        content = "Filler words here. " * 60 + "The best sentence." + " More words." * 60
        start = content.index("The best")
        hit = samples.hit(content=content, highlights=[{"start": start, "end": start + 18, "score": 0.9}])
        found = {
            "query": "q",
            "mode": "hybrid",
            "hits": [hit],
            "good_match": True,
            "match": 0.9,
            "legs": [],
            "milliseconds": 1,
        }
        settled.on("POST", "/v1/search", found)
        passage = attractor("search", "q").out.splitlines()[1]
        assert passage.startswith("   … ")
        assert passage.endswith(" …")
        assert passage.split()[1] in ("Filler", "words", "here.")
        assert "The best sentence." in passage


class TestChanging:
    def test_documents_delete_shows_the_receipt(self, settled, samples, attractor) -> None:
        settled.on("DELETE", f"/v1/documents/{ONE}", samples.receipt())
        ran = attractor("documents", "delete", ONE)
        assert (ran.code, "3 chunks" in ran.out, "deleted" in ran.out) == (0, True, True)
        assert attractor("documents", "delete", ONE, "--json").json[0]["pending"] == []

    def test_documents_delete_fails_if_something_remains(self, settled, samples, attractor) -> None:
        left = {
            "service": "retrieval",
            "removed": {},
            "remaining": {"chunks": 2},
            "confirmed_at": "2026-03-01T10:00:00Z",
        }
        settled.on("DELETE", f"/v1/documents/{ONE}", samples.receipt(services=[left], pending=["memory"]))
        ran = attractor("documents", "delete", ONE)
        assert (ran.code, "2 chunks" in ran.out) == (1, True)
        assert "not confirmed yet: memory" in ran.err

    def test_documents_are_retried(self, settled, samples, attractor) -> None:
        settled.on("POST", f"/v1/documents/{ONE}/retry", samples.detail(status="processing", explanation="waits"))
        assert attractor("documents", "retry", ONE).out == "note-1.md: waits\n"
        assert attractor("documents", "retry", ONE, "--json").json[0]["status"] == "processing"

    def test_documents_are_retried_by_filter(self, settled, attractor) -> None:
        settled.on("POST", "/v1/documents/retry", {"done": 7, "passed_over": 1})
        assert "7 queued again" in attractor("documents", "retry", "--all-failed").out
        assert jsonlib.loads(settled.calls("POST", "/v1/documents/retry")[0].body) == {"status": "failed"}
        assert attractor("documents", "retry").code == 2

    def test_documents_are_cancelled(self, settled, samples, attractor) -> None:
        settled.on("POST", f"/v1/documents/{ONE}/cancel", samples.detail(status="cancelled", explanation="Cancelled"))
        assert "note-1.md: Cancelled" in attractor("documents", "cancel", ONE).out

    def test_sources_are_added(self, settled, samples, attractor) -> None:
        settled.on("POST", "/v1/sources", samples.source())
        for arguments, expected in (
            (("folder", "/documents/a", "--exclude", "drafts/**"), {"path": "/documents/a", "exclude": ["drafts/**"]}),
            (("git", "/documents/r", "--ref", "main"), {"path": "/documents/r", "ref": "main"}),
            (("web", "https://docs.example.com/", "--crawl", "--depth", "2"), {"mode": "crawl", "max_depth": 2}),
            (("s3", "contracts", "2026/"), {"bucket": "contracts", "prefix": "2026/"}),
        ):
            ran = attractor("sources", "add", *arguments)
            assert (ran.code, "Handbook" in ran.out) == (0, True), ran.err
            sent = jsonlib.loads(settled.calls("POST", "/v1/sources")[-1].body)
            assert sent["config"].items() >= expected.items()

    def test_sources_sync_waits_and_shows_what_changed(self, settled, samples, attractor) -> None:
        sync = samples.sync(dry_run=True)
        change = {"position": 0, "action": "add", "path": "docs/new.md", "document_id": None, "file_size": 9}
        settled.on("POST", f"/v1/sources/{SOURCE}/sync", sync | {"status": "queued"})
        settled.on("GET", f"/v1/sources/{SOURCE}/syncs/{sync['id']}", sync)
        settled.on("GET", f"/v1/sources/{SOURCE}/syncs/{sync['id']}/changes", page(change | {"message": None}))
        ran = attractor("sources", "sync", SOURCE, "--dry-run")
        assert (ran.code, "4 would be added" in ran.out, "docs/new.md" in ran.out) == (0, True, True)
        assert settled.calls("POST", f"/v1/sources/{SOURCE}/sync")[0].query == {"dry_run": "true"}

    def test_a_failed_sync_makes_the_command_fail(self, settled, samples, attractor) -> None:
        sync = samples.sync(status="failed", error_message="The folder is not there")
        settled.on("POST", f"/v1/sources/{SOURCE}/sync", sync)
        settled.on("GET", f"/v1/sources/{SOURCE}/syncs/{sync['id']}", sync)
        settled.on("GET", f"/v1/sources/{SOURCE}/syncs/{sync['id']}/changes", page())
        ran = attractor("sources", "sync", SOURCE)
        assert (ran.code, "The folder is not there" in ran.err) == (1, True)

    def test_sources_are_paused_and_deleted(self, settled, samples, attractor) -> None:
        settled.on("GET", f"/v1/sources/{SOURCE}", samples.source())
        settled.on("PATCH", f"/v1/sources/{SOURCE}", samples.source(paused=True))
        assert "paused" in attractor("sources", "pause", SOURCE).out
        [patch] = settled.calls("PATCH", f"/v1/sources/{SOURCE}")
        assert (jsonlib.loads(patch.body), patch.headers["if-match"]) == ({"paused": True}, '"3"')
        receipt = {"source_id": SOURCE, "requested_at": "2026-03-01T10:00:00Z", "completed_at": None, "documents": 4}
        settled.on(
            "DELETE",
            f"/v1/sources/{SOURCE}",
            receipt | {"pending_documents": 1, "services": samples.receipt()["services"]},
        )
        assert "3 of 4 documents confirmed" in attractor("sources", "delete", SOURCE, "--yes").out

    def test_embedding_spaces_are_managed(self, settled, samples, attractor) -> None:
        settled.on("POST", "/v1/embedding-spaces", samples.space(status="building", vectors=2, seconds_left=30.0))
        assert "2/7" in attractor("spaces", "build", "minilm").out
        settled.on("POST", "/v1/embedding-spaces/minilm-384/activate", samples.space())
        assert "active" in attractor("spaces", "activate", "minilm-384").out
        settled.on("DELETE", "/v1/embedding-spaces/minilm-384", GONE)
        assert "deleted" in attractor("spaces", "drop", "minilm-384", "--yes").out

    def test_deleting_a_workspace_requires_its_name(self, settled, samples, attractor) -> None:
        workspace = samples.caller()["workspace"]
        settled.on("GET", "/v1/workspaces", page(workspace))
        receipt = {name: value for name, value in samples.receipt().items() if name != "document_id"}
        settled.on("DELETE", f"/v1/workspaces/{workspace['id']}", receipt | {"workspace_id": workspace["id"]})
        assert "retrieval" in attractor("workspaces", "delete", workspace["id"], "--yes").out
        [call] = settled.calls("DELETE", f"/v1/workspaces/{workspace['id']}")
        assert call.query["name"] == "Default"

    def test_documents_are_downloaded(self, settled, samples, attractor, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        settled.on("GET", f"/v1/documents/{ONE}", samples.detail(name="../../.note-1.md"))
        settled.on("GET", f"/v1/documents/{ONE}/original", Response(b"hello"))
        assert attractor("documents", "download", ONE).out == "note-1.md\n"
        assert (tmp_path / "note-1.md").read_bytes() == b"hello"
        again = attractor("documents", "download", ONE)
        assert (again.code, "--force" in again.err) == (2, True)
        assert attractor("documents", "download", ONE, "--force", "--json").json["path"] == "note-1.md"
        assert attractor("documents", "download", ONE, "-o", "-").out == "hello"
        missing = attractor("documents", "download", ONE, "-o", "none/x.md")
        assert (missing.code, "Cannot write" in missing.err) == (1, True)

    def test_sessions_are_managed(self, settled, samples, attractor) -> None:
        place = f"/v1/sessions/{UUID(int=5)}"
        settled.on("PATCH", place, samples.session(title="New"))
        assert attractor("sessions", "rename", str(UUID(int=5)), "New").out.endswith(" New\n")
        for command, undo in (("pin", "pinned"), ("archive", "archived")):
            settled.on("PATCH", place, samples.session(**{undo: True}), samples.session())
            assert attractor("sessions", command, str(UUID(int=5))).out == f"{UUID(int=5)} {undo}\n"
            assert attractor("sessions", command, str(UUID(int=5)), "--undo").out == f"{UUID(int=5)} no longer {undo}\n"
            asked = [jsonlib.loads(call.body) for call in settled.calls("PATCH", place)[-2:]]
            assert asked == [{undo: True}, {undo: False}]
        settled.on("GET", "/v1/sessions", page(samples.session(pinned=True)))
        assert "pinned" in attractor("sessions", "list", "--archived", "--pinned").out
        query = settled.calls("GET", "/v1/sessions")[-1].query
        assert (query["archived"], query["pinned"]) == ("true", "true")
        settled.on("PATCH", place, samples.session(title="New"))
        assert attractor("sessions", "rename", str(UUID(int=5)), "New", "--json").json["title"] == "New"

    def test_a_session_is_deleted(self, settled, attractor) -> None:
        session = str(UUID(int=5))
        receipt = {"session_id": session, "deleted_at": NOW, "removed": {"messages": 4, "runs": 2}}
        gone, left = receipt | {"remaining": {"runs": 0}}, receipt | {"remaining": {"streams": 2}}
        settled.on("DELETE", f"/v1/sessions/{session}", gone, gone, left)
        result = attractor("sessions", "delete", session)
        assert (result.code, "4 messages, 2 runs" in result.out, "nothing" in result.out) == (0, True, True)
        assert attractor("sessions", "delete", session, "--json").json == gone
        result = attractor("sessions", "delete", session)
        assert (result.code, "2 streams" in result.out) == (1, True)

    def test_sessions_are_searched(self, settled, attractor) -> None:
        hit = {"session_id": ONE, "title": None, "archived": False, "message_id": SOURCE, "role": "user"}
        settled.on("GET", "/v1/sessions/search", page(hit | {"snippet": "…who approves", "written_at": NOW}))
        assert "…who approves" in attractor("sessions", "search", "who appr").out
        assert attractor("sessions", "search", "who", "--json").json[0]["message_id"] == SOURCE
        assert settled.calls("GET", "/v1/sessions/search")[0].query["q"] == "who appr"

    def test_a_session_is_exported(self, settled, attractor, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        session, place = str(UUID(int=5)), f"/v1/sessions/{UUID(int=5)}/export"
        settled.on("GET", place, Response(b"# T\n"))
        assert attractor("sessions", "export", session, "t.md").out == "t.md: 4 B\n"
        assert (tmp_path / "t.md").read_bytes() == b"# T\n"
        assert attractor("sessions", "export", session, "--format", "json", "-").out == "# T\n"
        assert [call.query["format"] for call in settled.calls("GET", place)] == ["markdown", "json"]
        assert attractor("sessions", "export", session, "t.docx").code == 2

    def test_a_run_is_cancelled(self, settled, samples, attractor) -> None:
        run = samples.run() | {"status": "cancelled"}
        settled.on("POST", f"/v1/runs/{run['id']}/cancel", run)
        assert attractor("runs", "cancel", run["id"]).out == f"{run['id']} cancelled\n"
        assert attractor("runs", "cancel", run["id"], "--json").json["status"] == "cancelled"

    def test_a_run_is_retried(self, settled, samples, attractor) -> None:
        run = samples.run() | {"status": "queued"}
        settled.on("POST", f"/v1/runs/{run['id']}/retry", run)
        assert attractor("runs", "retry", run["id"]).out == f"{run['id']} queued\n"
        assert attractor("runs", "retry", run["id"], "--json").json["status"] == "queued"

    def test_documents_of_a_session_are_attached_and_detached(self, settled, attractor) -> None:
        place, attached = f"/v1/sessions/{UUID(int=5)}/documents", {"document_id": ONE, "attached_at": NOW}
        settled.on("GET", place, page(attached))
        settled.on("PUT", f"{place}/{ONE}", attached)
        settled.on("DELETE", f"{place}/{ONE}", GONE)
        session = str(UUID(int=5))
        assert ONE in attractor("sessions", "documents", session).out
        assert attractor("sessions", "attach", session, ONE).out == "1 attached\n"
        assert attractor("sessions", "attach", session, ONE, "--json").json == [attached]
        assert attractor("sessions", "detach", session, ONE).out == "1 detached\n"
        assert attractor("sessions", "detach", session, ONE, "--json").json == {"detached": [ONE]}

    def test_memories_are_managed(self, settled, samples, attractor, json) -> None:
        settled.on("POST", "/v1/memories", json(samples.memory(), 201))
        settled.on("DELETE", f"/v1/memories/{UUID(int=4)}", GONE)
        assert attractor("memories", "add", "Frozen").out.endswith("stored\n")
        assert attractor("memories", "add", "Frozen", "--json").json["kind"] == "note"
        settled.on("PATCH", f"/v1/memories/{UUID(int=4)}", samples.memory())
        assert attractor("memory", "edit", str(UUID(int=4)), "Frozen").out.endswith("edited\n")
        assert attractor("memories", "delete", str(UUID(int=4))).code == 0
        assert attractor("memories", "delete", str(UUID(int=4)), "--json").json["deleted"]

    def test_the_answer_of_a_fact_is_printed_with_the_memories_and_is_in_the_json(
        self, server, samples, attractor
    ) -> None:
        told = {"text": "It is frozen until March.", "memory_id": ONE, "about_user": False}
        server.on("POST", "/v1/memories/recall", {"memories": [samples.memory(score=0.9)], "answer": told})
        assert attractor("memory", "recall", "billing").out.startswith("It is frozen until March.\n")
        found = attractor("memory", "recall", "billing", "--json").json
        assert (found["answer"]["text"], len(found["memories"])) == ("It is frozen until March.", 1)

    def test_facts_are_reviewed(self, settled, samples, attractor) -> None:
        fact = dict.fromkeys(("phrase", "valid_to", "expired_at", "supersedes", "conflicts_with"))
        fact |= {"subject": "user", "predicate": "likes", "object": "tea", "valid_from": NOW, "message_ids": []}
        waiting = samples.memory(kind="fact", content="I like tea.", fact={**fact, "approved": False})
        known = samples.memory(kind="fact", content="I like cocoa.", fact={**fact, "approved": True})
        settled.on("GET", "/v1/memories", page(samples.memory(), waiting, known))
        shown = attractor("memory", "review").out
        assert "I like tea." in shown
        assert "cocoa" not in shown
        settled.on("POST", f"/v1/memories/{UUID(int=4)}/approve", known)
        assert attractor("memory", "approve", str(UUID(int=4))).out == "1 approved\n"

    def test_forgetting_prints_a_receipt(self, settled, samples, attractor) -> None:
        found = {
            "memories": [samples.memory(why="words", words=["March"])],
            "removed": {"memory": 2, "world": 0},
            "remaining": {"world": 1},
            "transcripts": {"messages": 1, "sessions": [str(UUID(int=5))]},
        }
        settled.on("POST", "/v1/memories/forget", {**found, "preview": True})
        shown = attractor("memory", "forget", "march", "--preview").out
        assert "Frozen until March." in shown
        assert "has March" in shown
        assert "To forget: 2 memories\nLeft in place, since only editors may change it: 1 world state\n" in shown
        assert shown.endswith(f"To delete them:\n  attractor sessions delete {UUID(int=5)}\n")
        assert attractor("memory", "forget", "--query", "When?", "--yes").out.count("2 memories") == 2
        for asked in (("--session", str(UUID(int=5))), ("--id", str(UUID(int=4)))):
            assert attractor("memory", "forget", *asked, "--yes", "--json").json["removed"]["memory"] == 2
        assert attractor("memory", "forget").code == 2
        assert attractor("memory", "forget", "march", "--query", "When?").code == 2

    def test_memories_are_pinned_exported_and_given_a_retention(self, settled, samples, attractor, tmp_path) -> None:
        settled.on("PATCH", f"/v1/memories/{UUID(int=4)}", samples.memory(pinned=True))
        assert attractor("memory", "pin", str(UUID(int=4))).out.endswith(" pinned\n")
        assert attractor("memory", "pin", str(UUID(int=4)), "--off").out.endswith(" unpinned\n")
        settled.on("GET", "/v1/memories/export", {"memory": samples.memory()})
        file = tmp_path / "memories.jsonl"
        assert attractor("memory", "export", str(file)).code == 0
        assert "Frozen until March." in file.read_text("utf-8")
        kept = {"writing": "on", "retention_days": 30}
        settled.on("GET", "/v1/memories/settings", kept)
        settled.on("PUT", "/v1/memories/settings", kept)
        assert attractor("memory", "settings").out == "facts are kept at once; memories are kept for 30 days\n"
        assert (
            attractor("memory", "settings", "--retention-days", "30").out
            == "facts are kept at once; memories are kept for 30 days\n"
        )

    def test_memories_are_imported(self, settled, attractor, tmp_path) -> None:
        taken = {"added": 2, "known": 0, "facts": 1, "message_ids": {}}
        settled.on("POST", "/v1/memories/import", taken)
        message = {"id": "1", "role": "user", "content": "I live in Munich.", "at": "2026-01-05T12:00:00"}
        file = tmp_path / "export.json"
        file.write_text(jsonlib.dumps([{"id": "talk", "messages": [message]}]), "utf-8")
        assert (
            attractor("memory", "import", str(file)).out
            == "2 messages imported, 0 were there before; 1 facts learned\n"
        )

    def test_an_import_that_fails_tells_how_far_it_came(self, settled, attractor, problem, tmp_path) -> None:
        taken = {"added": 1, "known": 0, "facts": 0, "message_ids": {}}
        settled.on("POST", "/v1/memories/import", taken, problem(422, "time-zone-unknown", "There is no such zone"))
        message = {"id": "1", "role": "user", "content": "I live in Munich.", "at": "2026-01-05T12:00:00"}
        file = tmp_path / "export.json"
        file.write_text(jsonlib.dumps([{"id": name, "messages": [message]} for name in ("a", "b", "c")]), "utf-8")
        ran = attractor("memory", "import", str(file))
        assert (ran.code, ran.out) == (1, "")
        assert "1 of 3 parts are imported; repeat the command for the rest" in ran.err
        file.write_text("{", "utf-8")
        assert "the file is no JSON" in attractor("memory", "import", str(file)).err

    def test_what_was_said_is_quoted_if_no_fact_answers(self, settled, attractor) -> None:
        told = {"text": "You said on 5 May 2026: I lived in Rome.", "known": True}
        settled.on("POST", "/v1/memories/recall", {"memories": [], "unanswered": told})
        assert attractor("memory", "recall", "Where did I live?").out == "You said on 5 May 2026: I lived in Rome.\n"

    def test_keys_and_workspaces_are_managed(self, settled, samples, attractor, json) -> None:
        place = f"/v1/workspaces/{UUID(int=99)}/keys"
        settled.on("POST", place, json(samples.key(key="atr_secret"), 201))
        settled.on("DELETE", f"{place}/{UUID(int=3)}", GONE)
        settled.on("POST", "/v1/workspaces", json(samples.caller()["workspace"], 201))
        created = attractor("keys", "create", "ci", "--role", "viewer")
        assert created.out == "atr_secret\n"
        assert "not shown again" in created.err
        assert attractor("keys", "create", "ci", "--all-workspaces", "--json").json["key"] == "atr_secret"
        attractor("keys", "create", "ci", "-w", str(UUID(int=99)), "-w", str(UUID(int=98)), "--expires", "2030-06-30")
        asked = [jsonlib.loads(call.body) for call in settled.calls("POST", place)]
        assert [one["all_workspaces"] for one in asked] == [False, True, False]
        assert [one["workspaces"] for one in asked] == [[], [], [str(UUID(int=98))]]
        assert [one.get("expires_at", "")[:4] for one in asked] == ["", "", "2030"]
        assert attractor("keys", "revoke", str(UUID(int=3))).code == 0
        assert attractor("keys", "revoke", str(UUID(int=3)), "--json").json == {"revoked": str(UUID(int=3))}
        assert "Default" in attractor("workspaces", "create", "Default").out
        assert attractor("workspaces", "create", "Default", "--json").json["name"] == "Default"

    def test_invitations_are_managed(self, settled, samples, attractor, json) -> None:
        place = f"/v1/workspaces/{UUID(int=99)}/invitations"
        settled.on("POST", place, json(samples.invitation(token="ati_token"), 201))
        settled.on("DELETE", f"{place}/{UUID(int=6)}", GONE)
        created = attractor("invitations", "create", "Bob", "--expires", "2d")
        assert created.out == "ati_token\n"
        assert "not shown again" in created.err
        assert "browser" not in created.err
        assert attractor("invitations", "create", "--json").json["token"] == "ati_token"
        settled.on("POST", place, json(samples.invitation(token="ati_token", link="https://a.org/join#ati_token"), 201))
        created = attractor("invitations", "create", "Bob")
        assert created.out == "ati_token\n"
        assert "in a browser: https://a.org/join#ati_token" in created.err
        assert attractor("invitations", "create", "--expires", "soon").code == 2
        assert attractor("invitations", "revoke", str(UUID(int=6)), "--json").json == {"revoked": str(UUID(int=6))}

    def test_an_invitation_is_accepted_with_the_configured_key_or_as_a_new_user(
        self, settled, samples, attractor, json
    ) -> None:
        caller = samples.caller()
        joined = {name: caller[name] for name in ("user", "workspace", "role")}
        settled.on("POST", "/v1/invitations/accept", json({**joined, "key": samples.key(key="atr_secret")}, 201))
        accepted = attractor("invitations", "accept", stdin="ati_token\n")
        assert accepted.out == "atr_secret\n"
        assert "Ada is owner in Default" in accepted.err
        assert (
            attractor("invitations", "accept", "--new", "--name", "Eve", "--json", stdin="t\n").json["role"] == "owner"
        )
        calls = settled.calls("POST", "/v1/invitations/accept")
        assert [call.headers.get("authorization") for call in calls] == ["Bearer key-1", None]
        assert [jsonlib.loads(call.body)["token"] for call in calls] == ["ati_token", "t"]

    def test_passwords_are_read_from_stdin_and_links_are_printed_once(self, settled, attractor, json) -> None:
        place, ends = f"/v1/users/{UUID(int=2)}/password-links", "2026-03-02T10:00:00Z"
        settled.on("PUT", "/v1/auth/password", GONE)
        settled.on("POST", place, json({"user_id": str(UUID(int=2)), "token": "secret-token", "expires_at": ends}, 201))
        assert "password set" in attractor("password", "set", stdin="a new password of mine\n").out
        assert attractor("password", "set", "--old", "--json", stdin="old\nnew\n").json == {"set": True}
        bodies = [jsonlib.loads(call.body) for call in settled.calls("PUT", "/v1/auth/password")]
        assert bodies == [
            {"new_password": "a new password of mine"},
            {"new_password": "new", "old_password": "old"},
        ]
        made = attractor("password", "link", str(UUID(int=2)))
        assert made.out == "secret-token\n"
        assert "not shown again" in made.err

    def test_users_are_managed(self, settled, samples, attractor) -> None:
        user, place = samples.caller()["user"], f"/v1/users/{UUID(int=2)}"
        settled.on("PATCH", place, user)
        settled.on("DELETE", place, GONE)
        for command in ("disable", "enable", "promote", "demote"):
            assert "Ada" in attractor("users", command, str(UUID(int=2))).out
        asked = [jsonlib.loads(call.body) for call in settled.calls("PATCH", place)]
        assert asked == [{"disabled": True}, {"disabled": False}, {"is_admin": True}, {"is_admin": False}]
        assert attractor("users", "delete", str(UUID(int=2)), "--json").json == {"deleted": str(UUID(int=2))}

    def test_a_key_sent_over_an_unencrypted_connection_causes_a_warning(self, attractor, monkeypatch) -> None:
        monkeypatch.setattr("attractor_client.invocation.AT_THE_PROMPT", RetryPolicy(attempts=1, first=0.01))
        for url, warned in (("http://nowhere.invalid", True), ("https://nowhere.invalid", False)):
            ran = attractor("--url", url, "status")
            assert ("can read the API key" in ran.err) is warned
            assert ran.out == ""
        new = attractor("invitations", "accept", "--new", "--url", "http://nowhere.invalid", stdin="t\n")
        assert "can read the token" in new.err


class TestFailing:
    @pytest.mark.parametrize(
        ("status", "code", "advice"),
        [(401, 3, "ATTRACTOR_API_KEY"), (403, 3, ""), (404, 4, ""), (500, 1, "trace abc"), (503, 5, "")],
    )
    def test_a_problem_is_one_line_and_an_exit_code(self, settled, attractor, problem, status, code, advice) -> None:
        settled.on("GET", f"/v1/documents/{ONE}", problem(status, "slug", "It is so", detail="why", trace_id="abc"))
        for ran in (attractor("documents", "show", ONE), attractor("documents", "show", ONE, "--json")):
            assert (ran.code, ran.out) == (code, "")
            assert ran.err.startswith("Error: It is so: why")
            assert ran.err.count("\n") == 1
            assert advice in ran.err

    def test_another_role_is_suggested_only_where_it_would_help(self, settled, attractor, problem) -> None:
        path = f"/v1/documents/{ONE}"
        settled.on("GET", path, problem(403, "forbidden", "The role of this key does not allow this"))
        assert "higher role" in attractor("documents", "show", ONE).err
        settled.on("GET", path, problem(403, "needs-wider-key", "This key does not read all the workspaces"))
        assert "higher role" not in attractor("documents", "show", ONE).err

    def test_connection_refused_is_a_one_line_error(self, attractor, nowhere: str) -> None:
        ran = attractor("--url", nowhere, "status")
        assert (ran.code, ran.out, ran.err.count("\n")) == (5, "", 1)
        assert f"Is Attractor running at {nowhere}?" in ran.err

    @pytest.mark.parametrize(
        "arguments",
        [
            ("--url", "localhost:8080", "status"),
            ("--api-key", "a\nb", "status"),
            ("search", ""),
            ("search", "a\x00b"),
            ("search", "q", "-k", "101"),
            ("documents", "show", "no-uuid"),
            ("graph", "expand"),
            ("sources", "add", "web", "no-url"),
            ("sources", "add", "folder", "handbook", "--every", "1"),
            ("no-such-command",),
        ],
    )
    def test_wrong_usage_is_a_one_line_error(self, attractor, arguments: tuple[str, ...]) -> None:
        ran = attractor(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err
        assert "Traceback" not in ran.err

    def test_version_and_help_are_printed(self, attractor) -> None:
        assert attractor("--version").out == f"attractor {VERSION}\n"
        for command in (
            "ingest",
            "ask",
            "search",
            "login",
            "documents",
            "sessions",
            "graph",
            "memories",
            "keys",
            "users",
        ):
            assert attractor(command, "--help").code == 0
        assert "Exit codes" in attractor("--help").out


class TestConfiguration:
    def test_login_saves_a_valid_key(self, settled, attractor, monkeypatch) -> None:
        monkeypatch.delenv("ATTRACTOR_API_KEY")
        monkeypatch.delenv("ATTRACTOR_URL")
        ran = attractor("login", "--url", settled.url, stdin='key-"9\n')
        assert (ran.code, "Ada, owner in Default" in ran.out) == (0, True)
        file = Path(ran.out.split("kept in ")[1].strip())
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        settled.on("GET", "/v1/memories", page())
        assert attractor("memories", "list").code == 0
        assert settled.received[-1].headers["authorization"] == 'Bearer key-"9'

    def test_login_refuses_an_invalid_key(self, settled, attractor, problem) -> None:
        settled.on("GET", "/v1/me", problem(401, "invalid-api-key", "The API key is not valid"))
        assert attractor("login", "--url", settled.url, stdin="wrong\n").code == 3
        assert attractor("login", "--url", settled.url, stdin="").code == 3

    def test_flags_override_the_environment_which_overrides_the_file(self, settled, attractor, monkeypatch) -> None:
        settled.on("GET", "/v1/memories", page())
        attractor("login", "--url", settled.url, stdin="of-the-file\n")
        used = []
        for arguments in (("--api-key", "of-the-flag"), ()):
            attractor(*arguments, "memories", "list")
            used.append(settled.received[-1].headers["authorization"])
        monkeypatch.delenv("ATTRACTOR_API_KEY")
        attractor("memories", "list")
        used.append(settled.received[-1].headers["authorization"])
        assert used == ["Bearer of-the-flag", "Bearer key-1", "Bearer of-the-file"]

    @pytest.mark.parametrize("text", ["url = ", "api_key = 5"])
    def test_a_broken_configuration_file_is_a_clear_error(self, attractor, monkeypatch, text: str) -> None:
        file = Path(
            attractor(
                "login",
                stdin="key-1\n",
            )
            .out.split("kept in ")[1]
            .strip()
        )
        monkeypatch.delenv("ATTRACTOR_API_KEY")
        file.write_text(text)
        ran = attractor("status")
        assert (ran.code, str(file) in ran.err, ran.err.count("\n")) == (2, True, 1)
