"""`attractor eval` and `attractor search`, run as users do, against the stack."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from api_calls import REPOSITORY

COMMAND = Path(sys.executable).with_name("attractor")
QUESTIONS = REPOSITORY / "infra" / "evaluation" / "example-questions.yaml"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


async def attractor(url: str, key: str, *arguments: str) -> Ran:
    environment = {**os.environ, "ATTRACTOR_URL": url, "ATTRACTOR_API_KEY": key}
    process = await asyncio.create_subprocess_exec(
        COMMAND, *arguments, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    return Ran(process.returncode or 0, out.decode(), err.decode())


def key_of(http: httpx2.AsyncClient) -> str:
    return http.headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four notes and three questions, one of which they do not answer."""
    folder = tmp_path / "notes"
    folder.mkdir()
    notes = [
        ("d1", "Refresh tokens", "A refresh token lives for fourteen days and is replaced at each use."),
        ("d2", "", "def rotate(key):\n    # signing keys rotate every thirty days\n    return key.successor()"),
        ("d3", "Ferries", "The ferry from Porto Calmo to Isla Verde leaves at noon."),
        ("d4", "A title that is too long to be underlined in plain text " * 4, "Receipts were sent twice."),
    ]
    questions = [("q1", "How long does a refresh token live?"), ("q2", "Which receipts came twice?"), ("q3", "ferries")]
    rows = [{"_id": name, "title": title, "text": text} for name, title, text in notes]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": q, "text": t}) + "\n" for q, t in questions))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td4\t1\nq3\td3\t1\n")
    return folder


async def test_a_corpus_is_evaluated_in_a_workspace_of_its_own(address, corpus, tmp_path):
    saved, page = tmp_path / "first.json", tmp_path / "report.html"
    run = ("eval", "run", str(corpus), "--no-graph", "--json", "--workspace", f"evaluation {tmp_path.name}")
    first = await attractor(*address, *run, "--save", str(saved))
    assert first.code == 0, first.err
    assert "4 documents of the corpus are searchable, 4 of them new" in first.err
    assert set(first.json["summary"]) == {"hybrid", "convex", "rrf", "lexical", "dense"}
    assert first.json["summary"]["hybrid"]["metrics"]["recall@10"] == 1
    assert first.json["summary"]["hybrid"]["metrics"]["success@1"] == 1
    again = await attractor(*address, *run, "--baseline", str(saved), "--tolerance", "0", "--html", str(page))
    assert again.code == 0, again.err
    assert "0 of them new" in again.err
    assert all(change["before"] == change["after"] for change in again.json["comparison"]["changes"])
    assert "How long does a refresh token live?" in page.read_text()
    keys = await attractor(*address, "workspaces", "list", "--json")
    [workspace] = [one for one in keys.json if one["name"] == f"evaluation {tmp_path.name}"]
    held = await attractor(*address, "keys", "list", "--workspace", workspace["id"], "--json")
    assert all(key["revoked_at"] for key in held.json)


async def test_a_temporary_workspace_is_deleted_afterwards(address, corpus):
    ran = await attractor(*address, "eval", "run", str(corpus), "--no-graph", "--new-workspace", "--modes", "lexical")
    assert ran.code == 0, ran.err
    listed = await attractor(*address, "workspaces", "list", "--json")
    assert not [one for one in listed.json if one["name"].startswith("evaluation notes 2")]


async def test_the_example_questions_are_evaluated(address, tenant):
    key = key_of(tenant.http)
    ran = await attractor(address[0], key, "eval", "run", str(QUESTIONS), "--json", "--fail-below", "recall@10=0.7")
    assert ran.code == 0, ran.err
    assert ran.json["questions"] >= 20
    failed = await attractor(address[0], key, "eval", "run", str(QUESTIONS), "--fail-below", "mrr@10=1.1")
    assert (failed.code, "Failed: mrr@10 of hybrid" in failed.err) == (1, True)


async def test_search_and_context_work_on_the_command_line(address, tenant):
    key = key_of(tenant.http)
    found = await attractor(address[0], key, "search", "BillingRouter", "--type", "html", "--explain", "--facet", "tag")
    assert found.code == 0, found.err
    assert "legs  lexical #" in found.out
    assert "services.md" not in found.out
    packet = await attractor(address[0], key, "context", "Who owns BillingRouter?", "--max-tokens", "200")
    assert (packet.code, "Tomas Okafor" in packet.out, "of 200 tokens" in packet.err) == (0, True, True)
