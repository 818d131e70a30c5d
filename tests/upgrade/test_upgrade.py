"""A stack upgraded in place still serves its data, and finishes the work that was in progress."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
import waiting
from api_calls import PATIENCE, client, processed
from stack import PATIENT, EmbeddedStack
from upgrade.recording import FOLDER, restore

pytestmark = pytest.mark.timeout(900)
FINISHED = {"completed", "failed", "cancelled"}
CONFIRMING = {"ingestion", "retrieval", "knowledge-graph", "memory"}


@dataclass(frozen=True)
class Upgraded:
    """The upgraded stack; `had` describes the content of the recorded one."""

    http: httpx2.AsyncClient
    had: dict[str, Any]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EmbeddedStack, dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("upgraded")
    folder.chmod(0o711)
    had = restore(FOLDER, folder)
    with EmbeddedStack.started(folder, **PATIENT, RATE_LIMIT_PER_MINUTE="0") as running:
        yield running, had


@pytest.fixture(scope="module")
async def upgraded(stack: tuple[EmbeddedStack, dict[str, Any]]) -> AsyncIterator[Upgraded]:
    running, had = stack
    async with client(running.url, had["key"]) as http:
        yield Upgraded(http, had)


async def read(http: httpx2.AsyncClient, path: str, **params: Any) -> dict[str, Any]:
    return dict((await http.get(path, params=params)).raise_for_status().json())


async def test_keys_keep_working_and_predictable_ones_are_listed(
    stack: tuple[EmbeddedStack, dict[str, Any]], upgraded: Upgraded
) -> None:
    """Regression: up to 0.1.0 every service could compute the secret of a key created with an Idempotency-Key."""
    running, had = stack
    async with client(running.url, had["repeatable_key"]) as http:
        known = await read(http, "/v1/me")
    assert known["role"] == "editor"
    path = f"/v1/workspaces/{known['workspace']['id']}/keys"
    await upgraded.http.post(path, json={"name": "new"}, headers={"Idempotency-Key": "after the upgrade"})
    gateway = running.processes()["gateway"].environ()
    command = [sys.executable, "-m", "gateway", "computable-keys"]
    listed = await asyncio.to_thread(subprocess.run, command, env=gateway, capture_output=True, text=True, check=True)
    _, *rows = [line.split("\t") for line in listed.stdout.splitlines()]
    assert [(row[2], row[3]) for row in rows] == [(known["key_id"], "repeatable")]
    log = (running.folder.path / "logs" / "gateway.log").read_text(encoding="utf-8")
    assert "computable-keys" in log
    assert known["key_id"] in log


async def test_documents_keep_their_state_and_content(upgraded: Upgraded) -> None:
    http, had = upgraded.http, upgraded.had
    listed = {one["name"]: one for one in (await read(http, "/v1/documents", limit=200))["items"]}
    assert {name: listed[name]["id"] for name in had["documents"]} == had["documents"]
    for name, identifier in had["documents"].items():
        detail = await read(http, f"/v1/documents/{identifier}")
        if name == "broken.docx":
            assert detail["status"] == "failed"
            continue
        assert detail["status"] == "searchable", detail
        assert (await read(http, f"/v1/documents/{identifier}/chunks"))["items"]
        for kind in ("original", "markdown"):
            assert (await http.get(f"/v1/documents/{identifier}/{kind}")).raise_for_status().content
        assert (await read(http, f"/v1/documents/{identifier}/versions"))["items"]


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
async def test_searches_find_previously_indexed_documents(upgraded: Upgraded, mode: str) -> None:
    body = {"query": "Why did UserDB refuse connections?", "mode": mode}
    found = (await upgraded.http.post("/v1/search", json=body)).raise_for_status().json()
    assert "inc-112-userdb-connections.md" in {hit["document_name"] for hit in found["hits"]}


async def test_the_graph_answers_from_documents_and_imports(upgraded: Upgraded) -> None:
    names = {one["name"] for one in (await read(upgraded.http, "/v1/graph/entities", limit=200))["items"]}
    assert {"AuthService", "UserDB", "BillingRouter"} <= names
    body = {"entity": "AuthService"}
    answer = (await upgraded.http.post("/v1/graph/tools/analyze_dependencies", json=body)).raise_for_status().json()
    assert answer["success"], answer
    assert [one["name"] for one in (await read(upgraded.http, "/v1/graph/triples"))["items"]] == ["owners"]


async def test_sessions_keep_their_history_and_can_be_continued(upgraded: Upgraded) -> None:
    http, session = upgraded.http, upgraded.had["session"]
    assert (await read(http, f"/v1/sessions/{session}"))["title"] == "Dependencies"
    messages = (await read(http, f"/v1/sessions/{session}/messages"))["items"]
    assert [(one["role"], one["status"]) for one in messages] == [("user", "completed"), ("assistant", "completed")]
    assert [one["parent_id"] for one in messages] == [None, messages[0]["id"]]
    run = await read(http, f"/v1/runs/{upgraded.had['run']}")
    assert run["status"] == "completed"
    assert run["answer"]["content"]
    body = {"content": "Who owns the BillingRouter?"}
    asked = (await http.post(f"/v1/sessions/{session}/messages", json=body)).raise_for_status().json()
    assert (await ended(http, asked["id"]))["status"] == "completed"


async def test_an_interrupted_run_is_completed(upgraded: Upgraded) -> None:
    run = await ended(upgraded.http, upgraded.had["interrupted_run"])
    assert run["status"] == "completed", run
    assert run["answer"]["content"]
    path = f"/v1/sessions/{upgraded.had['interrupted_session']}/messages"
    assert [one["id"] for one in (await read(upgraded.http, path))["items"]] == [run["question_id"], run["answer_id"]]


async def ended(http: httpx2.AsyncClient, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            run = await read(http, f"/v1/runs/{run_id}")
            if run["status"] in FINISHED:
                return run
            await asyncio.sleep(0.3)  # the run may have no events yet


async def test_memories_are_recalled(upgraded: Upgraded) -> None:
    async def recalled() -> set[str]:
        answer = await upgraded.http.post("/v1/memories/recall", json={"query": "When do we release?"})
        return {one["content"] for one in answer.raise_for_status().json()["memories"]}

    # Memories of the recorded release are prepared for recall after the start.
    await waiting.eventually(recalled, lambda contents: "We release on Thursdays." in contents)


async def test_a_queued_document_becomes_searchable(upgraded: Upgraded) -> None:
    document = await processed(upgraded.http, upgraded.had["queued"])
    assert document["status"] == "searchable", document
    found = (await upgraded.http.post("/v1/search", json={"query": "herring barrels"})).raise_for_status().json()
    assert found["hits"][0]["document_name"] == "queued.md"


async def test_a_failed_document_can_be_retried(upgraded: Upgraded) -> None:
    document = upgraded.had["documents"]["broken.docx"]
    retried = (await upgraded.http.post(f"/v1/documents/{document}/retry")).raise_for_status().json()
    assert retried["status"] == "processing"
    again = await processed(upgraded.http, document)
    assert (again["status"], again["explanation"] is None) == ("failed", False)


async def test_a_source_is_still_synchronised(upgraded: Upgraded) -> None:
    http, source = upgraded.http, upgraded.had["source"]
    sync = (await http.post(f"/v1/sources/{source}/sync")).raise_for_status().json()
    async with asyncio.timeout(PATIENCE):
        while sync["status"] in {"queued", "running"}:
            sync = await read(http, f"/v1/sources/{source}/syncs/{sync['id']}", wait="finished", timeout=30)
    assert (sync["status"], sync["added"], sync["removed"]) == ("succeeded", 0, 0), sync
    assert (await read(http, f"/v1/sources/{source}"))["documents"] == 2


async def test_a_deletion_is_confirmed_by_all_services(upgraded: Upgraded) -> None:
    http, document = upgraded.http, upgraded.had["documents"]["onboarding.html"]
    receipt = (await http.delete(f"/v1/documents/{document}", params={"timeout": 30})).raise_for_status().json()
    async with asyncio.timeout(PATIENCE):
        while receipt["completed_at"] is None:
            await asyncio.sleep(0.3)  # the receipt grows as services confirm
            receipt = await read(http, f"/v1/documents/{document}/receipt")
    services = {one["service"]: one for one in receipt["services"]}
    assert set(services) >= CONFIRMING
    assert services["retrieval"]["removed"]["chunks"] > 0
    assert not any(sum(one["remaining"].values()) for one in services.values()), receipt
