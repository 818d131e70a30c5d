"""attractor eval, against a service that ranks by common words."""

from __future__ import annotations

import hashlib
import itertools
import json as jsonlib
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

OWN = str(UUID(int=99))
OTHER = str(UUID(int=77))
DOCUMENTS = {"d1": ("Tokens", "A refresh token lives for thirty days."), "d2": ("", "Receipts are sent twice."),
             "d3": ("Owners", "Billing is owned by the payments team."), "d4": ("Empty", "")}  # fmt: skip


class Service:
    """A service that indexes uploads while the summary is polled, and rejects documents called `refused`."""

    def __init__(self, server: Any, samples: Any, json: Any, problem: Any) -> None:
        self.server, self.samples, self.json, self.problem = server, samples, json, problem
        self.documents: list[dict[str, Any]] = []  # uploads are concurrent and arrive in any order: look up by name
        self.numbers = itertools.count(1)
        self.texts: dict[str, str] = {}
        self.summaries = 0
        server.on("POST", "/v1/documents", self.upload)
        server.on("GET", "/v1/documents", lambda _: json({"items": self.documents, "next_cursor": None}))
        server.on("GET", "/v1/documents/summary", self.summary)
        server.on("POST", "/v1/search", self.search)
        server.on("GET", "/v1/status", {"status": "ready", "version": "0.1.0", "services": []})
        server.on("GET", "/v1/workspaces", {"items": [samples.caller()["workspace"]], "next_cursor": None})

    def add(self, name: str, data: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        made: dict[str, Any] = self.samples.document(next(self.numbers), name=name, content_hash=digest)
        self.texts[made["id"]] = data.decode()
        self.documents.append(made)
        return made

    def with_text(self, part: str) -> str:
        """Returns the id of the one document that contains `part`."""
        [found] = [identifier for identifier, text in self.texts.items() if part in text]
        return found

    def upload(self, received: Any) -> Any:
        files = []
        boundary = received.headers["content-type"].partition("boundary=")[2].encode()
        for part in received.body.split(b"--" + boundary)[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            name = re.search(rb'filename="([^"]*)"', head)[1].decode()
            if name.startswith("refused"):
                files.append({"name": name, "error": "empty-file", "message": "It is empty"})
            else:
                files.append({"name": name, "document": self.add(name, content.removesuffix(b"\r\n")), "created": True})
        return self.json({"files": files}, 202)

    def summary(self, _: Any) -> Any:
        self.summaries += 1
        waiting = {1: {"processing": 2}}.get(self.summaries, {})
        stages = {2: {"graph": 1}}.get(self.summaries, {})
        counts = {"total": len(self.documents), "by_status": waiting, "by_stage": stages}
        return self.json(self.samples.summary(**counts))

    def search(self, received: Any) -> Any:
        asked = jsonlib.loads(received.body)
        if "refuse" in asked["query"]:
            return self.problem(422, "invalid", "It is not valid")
        words = set(re.findall(r"\w+", asked["query"].lower()))
        scored = []
        for one in self.documents:
            text = self.texts[one["id"]]
            common = len(words & set(re.findall(r"\w+", text.lower())))
            if common and (asked["mode"] != "dense" or "token" in text):
                scored.append((common, one["id"], one["name"], text))
        hits = [
            self.samples.hit(document_id=identifier, document_name=name, content=text, score=float(common))
            for common, identifier, name, text in sorted(scored, reverse=True)
        ][: asked["k"]]
        legs = [{"leg": "graph", "candidates": 0, "milliseconds": 1.0, "error": "timeout"}] * asked["use_graph"]
        answer = {"query": asked["query"], "mode": asked["mode"], "hits": hits, "good_match": True, "match": 0.9}
        return self.json(answer | {"legs": legs, "milliseconds": 3.0})


@pytest.fixture
def service(settled: Any, samples: Any, json: Any, problem: Any, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setattr("attractor_client.evaluation.corpus.POLL_SECONDS", 0.01)
    monkeypatch.setattr("attractor_client.evaluation.corpus.FILES_PER_UPLOAD", 2)
    return Service(settled, samples, json, problem)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    rows = [{"_id": name, "title": title, "text": text} for name, (title, text) in DOCUMENTS.items()]
    (folder / "corpus.jsonl").write_text("".join(jsonlib.dumps(row) + "\n" for row in rows))
    questions = [("q1", "refresh token"), ("q2", "receipts sent"), ("q3", "who owns that?"), ("q4", "ungraded")]
    (folder / "queries.jsonl").write_text("".join(jsonlib.dumps({"_id": q, "text": t}) + "\n" for q, t in questions))
    (folder / "qrels.tsv").write_text("q1\td1\t1\nq2\td2\t1\nq3\td3\t2\n")
    return folder


class TestCorpus:
    def test_the_corpus_is_uploaded_once_then_queried(self, service: Service, attractor: Any, corpus: Path) -> None:
        ran = attractor("eval", "run", str(corpus), "--here", "--modes", "lexical,dense", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["questions"] == 3
        lexical, dense = ran.json["summary"]["lexical"], ran.json["summary"]["dense"]
        assert lexical["metrics"]["ndcg@10"] == pytest.approx(2 / 3)
        assert dense["metrics"]["hit_rate@10"] == pytest.approx(1 / 3)
        assert lexical["latency"]["service_p50"] == 3.0
        assert lexical["latency"]["p50"] > 0
        assert "1 questions have no grades" in ran.err
        assert "4 documents of the corpus are searchable, 4 of them new" in ran.err
        assert service.summaries == 3  # until indexed, and read for the graph
        assert len(service.server.calls("POST", "/v1/documents")) == 2
        again = attractor("eval", "run", str(corpus), "--here", "--modes", "lexical", "--no-graph")
        assert "4 documents of the corpus are searchable, 0 of them new" in again.err
        assert len(service.server.calls("POST", "/v1/documents")) == 2
        assert re.search(r"lexical +0\.6667 +0\.6667", again.out)
        assert "without the leg" not in again.err

    def test_each_mode_is_queried_with_the_given_options(self, service: Service, attractor: Any, corpus: Path) -> None:
        attractor(
            "eval", "run", str(corpus), "--here", "--modes", "rrf,dense", "-k", "3", "--no-rerank", "--limit", "2"
        )
        asked = [jsonlib.loads(one.body) for one in service.server.calls("POST", "/v1/search")]
        assert [(one["query"], one["mode"]) for one in asked] == [
            ("refresh token", "rrf"),
            ("refresh token", "dense"),
            ("receipts sent", "dense"),
            ("receipts sent", "rrf"),
        ]
        expected = {"k": 3, "max_per_document": 1, "rerank": False, "use_graph": True, "fold_duplicates": False}
        assert all(one.items() >= expected.items() for one in asked)

    def test_skipped_documents_other_documents_and_missing_legs_are_reported(
        self, service: Service, attractor: Any, corpus: Path
    ) -> None:
        service.add("other.md", b"Something else")
        with (corpus / "corpus.jsonl").open("a") as file:
            file.write('{"_id": "refused", "text": ""}\n')
        with (corpus / "qrels.tsv").open("a") as file:
            file.write("q1\trefused\t1\n")
        ran = attractor("eval", "run", str(corpus), "--here", "--modes", "hybrid")
        assert ran.code == 0, ran.err
        assert "1 are not searchable and count as not found:\n  refused: It is empty" in ran.err
        assert "1 other documents of the workspace are searched as well" in ran.err
        assert "hybrid: 3 answers without the leg graph: timeout" in ran.err

    def test_identical_documents_are_uploaded_once(self, service: Service, attractor: Any, corpus: Path) -> None:  # noqa: ARG002
        with (corpus / "corpus.jsonl").open("a") as file:
            file.write('{"_id": "copy", "title": "Tokens", "text": "A refresh token lives for thirty days."}\n')
        (corpus / "qrels.tsv").write_text("q1\td1\t1\nq1\tcopy\t1\n")
        ran = attractor("eval", "run", str(corpus), "--here", "--modes", "hybrid", "--json")
        assert ran.json["summary"]["hybrid"]["metrics"]["recall@10"] == 1

    def test_a_refused_question_counts_as_nothing_found(self, service: Service, attractor: Any, corpus: Path) -> None:  # noqa: ARG002
        (corpus / "queries.jsonl").write_text(
            '{"id": "q1", "text": "refuse this token"}\n{"id": "q2", "text": "' + "a" * 10_001 + '"}\n'
        )
        ran = attractor("eval", "run", str(corpus), "--here", "--modes", "hybrid")
        assert (ran.code, "2 questions were rejected" in ran.err) == (0, True)

    def test_a_server_failure_ends_the_evaluation(self, service: Service, attractor: Any, corpus: Path) -> None:
        service.server.on("POST", "/v1/search", service.problem(503, "unavailable", "It is away"))
        ran = attractor("eval", "run", str(corpus), "--here", "--jobs", "4")
        assert (ran.code, ran.out, "It is away" in ran.err) == (5, "", True)


class TestWorkspaces:
    def prepare(self, service: Service) -> None:
        keys = f"/v1/workspaces/{OTHER}/keys"
        workspace = service.samples.caller()["workspace"] | {"id": OTHER}
        made = service.json(service.samples.key(workspace_id=OTHER, key="atr_inside"), 201)
        service.server.on("POST", keys, made)
        service.server.on("DELETE", f"{keys}/{UUID(int=3)}", service.json(None, 204))
        service.server.on("POST", "/v1/workspaces", lambda one: service.json(workspace | jsonlib.loads(one.body), 201))
        receipt = {k: v for k, v in service.samples.receipt().items() if k != "document_id"}
        service.server.on("DELETE", f"/v1/workspaces/{OTHER}", receipt | {"workspace_id": OTHER})

    def test_a_corpus_gets_a_workspace_of_its_own(self, service: Service, attractor: Any, corpus: Path) -> None:
        self.prepare(service)
        ran = attractor("eval", "run", str(corpus), "--modes", "lexical")
        assert (ran.code, "workspace evaluation notes (new)" in ran.err) == (0, True)
        [upload, *_] = service.server.calls("POST", "/v1/documents")
        assert upload.headers["authorization"] == "Bearer atr_inside"
        assert service.server.calls("DELETE", f"/v1/workspaces/{OTHER}/keys/{UUID(int=3)}")
        assert not service.server.calls("DELETE", f"/v1/workspaces/{OTHER}")

    def test_an_existing_workspace_is_reused(self, service: Service, attractor: Any, corpus: Path) -> None:
        self.prepare(service)
        there = service.samples.caller()["workspace"] | {"id": OTHER, "name": "evaluation notes"}
        service.server.on("GET", "/v1/workspaces", {"items": [there], "next_cursor": None})
        assert attractor("eval", "run", str(corpus), "--modes", "lexical").code == 0
        assert not service.server.calls("POST", "/v1/workspaces")

    @pytest.mark.parametrize(("keep", "deletions"), [((), 1), (("--keep",), 0)])
    def test_a_new_workspace_is_deleted_afterwards(
        self, service: Service, attractor: Any, corpus: Path, keep: tuple[str, ...], deletions: int
    ) -> None:
        self.prepare(service)
        assert attractor("eval", "run", str(corpus), "--modes", "lexical", "--new-workspace", *keep).code == 0
        [made] = service.server.calls("POST", "/v1/workspaces")
        assert re.fullmatch(r"evaluation notes \d{4}-\d\d-\d\d .*", jsonlib.loads(made.body)["name"])
        assert len(service.server.calls("DELETE", f"/v1/workspaces/{OTHER}")) == deletions

    def test_a_user_who_may_not_create_a_workspace_is_told_what_to_do(
        self, service: Service, attractor: Any, corpus: Path
    ) -> None:
        service.server.on("POST", "/v1/workspaces", service.problem(403, "forbidden", "The role does not allow it"))
        ran = attractor("eval", "run", str(corpus))
        assert (ran.code, "--here" in ran.err) == (3, True)


class TestMemory:
    def test_conversations_are_imported_and_queried(
        self, service: Service, samples: Any, attractor: Any, tmp_path: Path
    ) -> None:
        TestWorkspaces().prepare(service)
        turns = [{"id": "D1:1", "speaker": "Gina", "text": "I sold a boat."}]
        turns += [{"id": "D1:2", "speaker": "Jon", "text": "Nice!"}]
        sessions = [{"session_id": "D1", "time": "1:56 pm on 8 May, 2023", "turns": turns}]
        asked = [{"question": "What?", "category_name": "single-hop", "evidence_turn_ids": ["D1:1", "D1:2"]}]
        file = tmp_path / "talk.json"
        file.write_text(jsonlib.dumps([{"conversation_id": "talk", "sessions": sessions, "questions": asked}]))
        ids = {"D1:1": str(UUID(int=4)), "D1:2": str(UUID(int=5))}
        service.server.on("POST", "/v1/memories/import", {"added": 2, "known": 0, "facts": 1, "message_ids": ids})
        service.server.on("POST", "/v1/memories/recall", {"memories": [samples.memory(score=0.9)]})
        ran = attractor("eval", "memory", str(file), "--json")
        assert (ran.code, ran.json["recall"]) == (0, {"all": 0.5, "single-hop": 0.5})
        assert (ran.json["messages"], ran.json["facts"]) == (2, 1)
        assert re.search(r"single-hop +1 +0\.500", attractor("eval", "memory", str(file)).out)
        assert len(service.server.calls("DELETE", f"/v1/workspaces/{OTHER}")) == 2


class TestOwnQuestions:
    def test_own_questions_name_documents_and_passages(self, service: Service, attractor: Any, tmp_path: Path) -> None:
        service.add("tokens.md", b"A refresh token lives for thirty days.")
        service.add("receipts.md", b"Receipts of a token are sent twice.")
        file = tmp_path / "own.yaml"
        file.write_text(
            "- {question: 'How long does a refresh token live?', documents: [tokens.md]}\n"
            "- {question: Which token receipts, passages: [are sent   TWICE], documents: [receipts.md]}\n"
        )
        ran = attractor("eval", "run", str(file), "--modes", "hybrid", "--json", "--save", str(tmp_path / "a.json"))
        assert ran.code == 0, ran.err
        assert ran.json["summary"]["hybrid"]["metrics"]["success@1"] == 1
        assert (ran.json["dataset"], ran.json["documents"]) == ("own", 2)
        asked = [jsonlib.loads(one.body) for one in service.server.calls("POST", "/v1/search")]
        assert [one.get("max_per_document") for one in asked] == [1, None]
        assert not service.server.calls("POST", "/v1/documents")

    def test_missing_documents_are_reported(self, service: Service, attractor: Any, tmp_path: Path) -> None:  # noqa: ARG002
        file = tmp_path / "own.jsonl"
        file.write_text('{"question": "Where?", "documents": ["none.md"]}\n')
        ran = attractor("eval", "run", str(file))
        assert (ran.code, "none.md" in ran.err) == (2, True)

    def test_a_missing_workspace_is_reported(self, service: Service, attractor: Any, tmp_path: Path) -> None:  # noqa: ARG002
        file = tmp_path / "own.jsonl"
        file.write_text('{"question": "Where?", "passages": ["x"]}\n')
        ran = attractor("eval", "run", str(file), "-w", "Nowhere")
        assert (ran.code, "Nowhere" in ran.err) == (4, True)


class TestBaselines:
    @pytest.fixture
    def saved(self, service: Service, attractor: Any, corpus: Path, tmp_path: Path) -> Path:  # noqa: ARG002
        file = tmp_path / "base.json"
        assert attractor("eval", "run", str(corpus), "--here", "--modes", "lexical", "--save", str(file)).code == 0
        return file

    def run(self, attractor: Any, corpus: Path, *options: str) -> Any:
        return attractor("eval", "run", str(corpus), "--here", "--modes", "lexical", *options)

    def test_identical_results_pass_and_a_report_is_written(
        self, attractor: Any, saved: Path, corpus: Path, tmp_path: Path
    ) -> None:
        page = tmp_path / "reports" / "report.html"
        ran = self.run(attractor, corpus, "--baseline", str(saved), "--tolerance", "0", "--html", str(page))
        assert (ran.code, "no question changed" in ran.out) == (0, True)
        assert page.read_text().startswith("<!doctype html>")
        assert f"written: {page}" in ran.err

    def test_an_unwritable_path_is_reported(self, attractor: Any, saved: Path) -> None:
        ran = attractor("eval", "compare", str(saved), str(saved), "--html", str(saved / "report.html"))
        assert (ran.code, f"Cannot write {saved / 'report.html'}" in ran.err) == (1, True)

    @pytest.mark.parametrize(("tolerance", "code"), [("0.5", 0), ("0.1", 1)])
    def test_a_result_below_the_tolerance_fails(
        self, service: Service, attractor: Any, saved: Path, corpus: Path, tolerance: str, code: int
    ) -> None:
        tokens = service.with_text("refresh token")
        service.texts = dict.fromkeys(service.texts, "unrelated") | {tokens: "refresh token"}
        ran = self.run(attractor, corpus, "--baseline", str(saved), "--tolerance", tolerance)
        assert ran.code == code, ran.err
        assert re.search(r"lexical +ndcg@10 +0\.6667 +0\.3333 +-0\.3333 +1\.000 +0 +1", ran.out)
        assert "-1.0000  receipts sent  (1.0000 to 0.0000)" in ran.out
        assert ("Failed: ndcg@10 of lexical fell by 0.3333, more than 0.1" in ran.err) is bool(code)

    def test_a_result_below_the_floor_fails(self, attractor: Any, saved: Path) -> None:
        for floor, code in (("ndcg@10=0.6", 0), ("lexical:recall@5=0.9", 1)):
            ran = attractor("eval", "compare", str(saved), str(saved), "--fail-below", floor, "--json")
            assert ran.code == code
            assert len(ran.json["failed"]) == code
            assert ran.json["comparison"]["questions"] == 3

    @pytest.mark.parametrize(
        "options",
        [
            ("--modes", "best"),
            ("--modes", "dense,dense"),
            ("--metric", "ndcg@7"),
            ("--fail-below", "ndcg@10"),
            ("--fail-below", "rrf:ndcg@10=1"),
            ("--workspace", "x"),
            ("--baseline", "none.json"),
        ],
    )
    def test_wrong_usage(self, service: Service, attractor: Any, corpus: Path, options: tuple[str, str]) -> None:
        ran = self.run(attractor, corpus, *options)
        assert (ran.code, ran.out) == (2, "")
        assert not service.server.calls("POST", "/v1/documents")

    def test_a_folder_without_a_corpus_is_refused(self, service: Service, attractor: Any, tmp_path: Path) -> None:  # noqa: ARG002
        ran = attractor("eval", "run", str(tmp_path))
        assert (ran.code, "has no corpus.jsonl" in ran.err) == (2, True)
