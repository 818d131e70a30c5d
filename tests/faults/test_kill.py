"""kill -9 at random moments of ingestion and chat with 50 real files: nothing is lost, stuck or duplicated."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator

import httpx2
import pytest
from api_calls import EVALUATION, EXAMPLES, PATIENCE, ask, client
from stack import PATIENT, EmbeddedStack

FILES = 50
KILLED = ("ingestion-worker", "retrieval", "orchestrator")
KILLS_EACH = 4
# Each kill may hit the same document or run, which does not fail for it here: that has tests of its own.
MORE_THAN_KILLS = {name: str(KILLS_EACH + 1) for name in ("MAX_LOSSES", "RUN_MAX_ATTEMPTS")}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    settings = PATIENT | MORE_THAN_KILLS | {"RATE_LIMIT_PER_MINUTE": "100000"}
    with EmbeddedStack.started(tmp_path_factory.mktemp("faults"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def files() -> list[tuple[str, bytes]]:
    """Returns 50 real files: the examples, then Python Enhancement Proposals, or made-up pages if those are missing."""
    found = [(path.name, path.read_bytes()) for path in sorted(EXAMPLES.rglob("*")) if path.is_file()]
    proposals = sorted((EVALUATION / "ingest-peps" / "t1").glob("*.rst"), key=lambda path: path.stat().st_size)
    found += [(path.name, path.read_bytes()) for path in proposals[100:]]
    pages = ((f"page-{n}.md", f"# Page {n}\n\nThe number of this page is {n}.\n".encode()) for n in itertools.count())
    return list(itertools.islice(itertools.chain(found, pages), FILES))


async def keep_killing(stack: EmbeddedStack, done: asyncio.Event) -> Counter[str]:
    """Kills one of the three every second until done; one that is being restarted is left alone."""
    kills: Counter[str] = Counter()
    for name in itertools.cycle(KILLED):
        try:
            async with asyncio.timeout(1.5):
                await done.wait()
            return kills
        except TimeoutError:
            if name in stack.processes() and kills[name] < KILLS_EACH:
                stack.kill(name)
                kills[name] += 1
    return kills


async def upload(http: httpx2.AsyncClient, name: str, data: bytes) -> str:
    response = await http.post("/v1/documents", files=[("files", (name, data))])
    assert response.status_code == 202, response.text
    identifier: str = response.json()["files"][0]["document"]["id"]
    return identifier


async def searchable(http: httpx2.AsyncClient, identifier: str) -> dict[str, object]:
    async with asyncio.timeout(600):
        while True:
            response = await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 30})
            if response.status_code == 200 and response.json()["status"] in {"searchable", "failed"}:
                return response.json()


async def answered(http: httpx2.AsyncClient, run: str) -> dict[str, object]:
    """Returns the run's end; reads its stream again if the orchestrator has died."""
    async with asyncio.timeout(PATIENCE):
        while True:
            response = await http.get(f"/v1/runs/{run}")
            if response.status_code == 200 and response.json()["status"] in {"completed", "failed", "cancelled"}:
                return response.json()
            await asyncio.sleep(0.3)  # the server that could notify may be the killed one


async def accepted_run(http: httpx2.AsyncClient, question: str) -> str | None:
    """Returns the id of a run accepted with 202; None if the orchestrator was down."""
    session = await http.post("/v1/sessions", json={})
    if session.status_code != 201:
        return None
    response = await http.post(f"/v1/sessions/{session.json()['id']}/messages", json={"content": question})
    return response.json()["id"] if response.status_code == 202 else None


@pytest.mark.timeout(900)
async def test_nothing_is_lost_stuck_or_duplicated(stack, files):
    async with client(stack.url, stack.api_key) as http:
        done = asyncio.Event()
        killer = asyncio.create_task(keep_killing(stack, done))
        identifiers = [await upload(http, name, data) for name, data in files]
        runs: list[str | None] = []
        while len(runs) < 12 or len([run for run in runs if run]) < 3:  # each process is killed at most a few times
            runs.append(await accepted_run(http, f"Which projects depend on AuthService? ({len(runs)})"))
            await asyncio.sleep(0.5)  # spreads the questions over the kills
        documents = await asyncio.gather(*(searchable(http, identifier) for identifier in identifiers))
        done.set()
        kills = await killer
        assert all(kills[name] >= 1 for name in KILLED), kills

        assert [one for one in documents if one["status"] != "searchable"] == []
        ended = [await answered(http, run) for run in runs if run]
        assert {run["status"] for run in ended} == {"completed"}
        assert all(run["answer"] for run in ended)

        page = (await http.get("/v1/documents", params={"limit": 200})).raise_for_status().json()["items"]
        assert len(page) == len(files) == len({document["content_hash"] for document in page})
        for document in documents:
            await assert_indexed_once(http, document)
        assert (await ask(http, "Which projects depend on AuthService?"))["citations"]


async def assert_indexed_once(http: httpx2.AsyncClient, document: dict[str, object]) -> None:
    """Asserts that a dense search limited to the document returns each of its chunks once (up to the limit of 100)."""
    body = {"query": "projects", "mode": "dense", "k": 100, "document_ids": [document["id"]], "fold_duplicates": False}
    async with asyncio.timeout(PATIENCE):
        while (response := await http.post("/v1/search", json=body)).status_code >= 500:  # noqa: ASYNC110
            await asyncio.sleep(0.3)  # the last kill may have hit the index
    hits = response.raise_for_status().json()["hits"]
    assert len(hits) == len({hit["chunk_id"] for hit in hits}) == min(100, int(str(document["chunk_count"])))
