"""Figures of ingestion on a whole stack: a folder of PEPs is synchronised and changed, with concurrent uploads."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg
from api_calls import EVALUATION
from benchmarks.figures import Row, fresh, spread
from stack import EmbeddedStack

PEPS = EVALUATION / "ingest-peps"
UPLOAD_EVERY_SECONDS = 1.0
SAMPLE = 120  # documents for the comparison of workers
ABSENT: list[Row] = [("ingestion of the PEPs", "../shared/eval/ingest-peps is not here", "")]
SCHEMAS = {
    "retrieval": "index with text, postings, vectors, HNSW",
    "knowledge_graph": "graph provenance",
    "ingestion": "documents, stages, origins",
}


def earlier_state(folder: Path) -> None:
    """Writes the PEPs as of a year earlier: without files added since, and with old versions of changed ones."""
    shutil.copytree(PEPS / "t1", folder)
    for line in (PEPS / "changes.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        status, name = line.split("\t")
        if status == "A":
            (folder / name).unlink()
    for path in (PEPS / "t0-differs").iterdir():
        shutil.copy2(path, folder / path.name)


def later_state(folder: Path) -> None:
    """Writes only the files that differ, as a person would."""
    for path in (PEPS / "t1").iterdir():
        target = folder / path.name
        if not target.exists() or target.read_bytes() != path.read_bytes():
            shutil.copyfile(path, target)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


@asynccontextmanager
async def connected(stack: EmbeddedStack) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {stack.api_key}"}
    async with httpx2.AsyncClient(base_url=stack.url, headers=headers, timeout=400) as http:
        yield http


async def synchronised(http: httpx2.AsyncClient, source: str) -> dict[str, Any]:
    """Returns the requested synchronisation once it has ended; raises an error if it failed."""
    sync = (await http.post(f"/v1/sources/{source}/sync")).raise_for_status().json()
    while sync["status"] in {"queued", "running"}:
        wait = {"wait": "finished", "timeout": 60}
        sync = (await http.get(f"/v1/sources/{source}/syncs/{sync['id']}", params=wait)).raise_for_status().json()
    if sync["status"] != "succeeded":
        raise RuntimeError(f"the synchronisation failed: {sync}")
    return dict(sync)


async def all_done(http: httpx2.AsyncClient, expected: int) -> dict[str, Any]:
    """Returns the summary once there are `expected` documents and none is in progress."""
    while True:
        summary = (await http.get("/v1/documents/summary")).raise_for_status().json()
        if summary["total"] >= expected and not summary["by_status"].get("processing"):
            return dict(summary)
        await asyncio.sleep(0.5)


async def uploads_meanwhile(http: httpx2.AsyncClient, done: asyncio.Event) -> list[float]:
    """Returns the seconds from upload to searchable of pages, one after the other until the bulk is done."""
    took = []
    while not done.is_set():
        number = len(took)
        text = f"# Note {number}\n\nThe interactive lane carries note {number} past the bulk.\n".encode()
        began = time.perf_counter()
        answer = await http.post("/v1/documents", files=[("files", (f"note-{number}.md", text))])
        identifier = answer.raise_for_status().json()["files"][0]["document"]["id"]
        state = await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 120})
        if state.json()["status"] != "searchable":
            raise RuntimeError(state.text)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(UPLOAD_EVERY_SECONDS)
    return took


async def synchronisation(folder: Path) -> list[Row]:
    """Measures a first synchronisation during uploads, an unchanged one, a year's changes, deletions, storage."""
    if not PEPS.is_dir():
        return ABSENT
    documents = folder / "documents"
    documents.mkdir(parents=True)
    earlier_state(documents / "peps")
    with EmbeddedStack.started(
        fresh(folder / "stack"), RATE_LIMIT_PER_MINUTE="0", SOURCE_ROOTS=str(documents)
    ) as stack:
        async with connected(stack) as http:
            return await _synchronisation(stack, http, documents / "peps")


async def _synchronisation(stack: EmbeddedStack, http: httpx2.AsyncClient, peps: Path) -> list[Row]:
    first = len(_files(peps))
    began, done = time.perf_counter(), asyncio.Event()
    config = {"kind": "folder", "path": str(peps), "watch": False}
    source = (await http.post("/v1/sources", json={"name": "PEPs", "config": config})).raise_for_status().json()["id"]
    beside = asyncio.create_task(uploads_meanwhile(http, done))
    summary = await all_done(http, first)
    seconds = time.perf_counter() - began
    done.set()
    uploads = await beside
    failed = summary["by_status"].get("failed", 0)
    rows = [
        (f"first synchronisation of {first} PEPs, {failed} failed", f"{seconds:.0f} s, {first / seconds:.2f}/s", ""),
        (f"  one page beside it, to searchable ({len(uploads)} times)", spread(uploads), "p95 5000 ms"),
    ]
    began = time.perf_counter()
    unchanged = await synchronised(http, source)
    assert unchanged["unchanged"] == first, unchanged
    rows.append((f"unchanged synchronisation of {first} files", f"{time.perf_counter() - began:.2f} s", "3 s"))
    rows += await _changes(http, source, peps)
    return [*rows, *(await _storage(stack))]


async def _changes(http: httpx2.AsyncClient, source: str, peps: Path) -> list[Row]:
    later_state(peps)
    began = time.perf_counter()
    changed = await synchronised(http, source)
    await all_done(http, len(_files(peps)))
    seconds = time.perf_counter() - began
    lines = (PEPS / "changes.tsv").read_text(encoding="utf-8").splitlines()[1:]
    expected = [sum(line.startswith(letter) for line in lines) for letter in "MA"]
    what = f"a year's changes: {changed['changed']} changed, {changed['added']} added, {changed['unchanged']} untouched"
    rows: list[Row] = [(what, f"{seconds:.0f} s", f"{expected[0]} and {expected[1]}")]
    for path in _files(peps)[:10]:
        path.unlink()
    began = time.perf_counter()
    removed = await synchronised(http, source)
    rows.append((f"{removed['removed']} deletions", f"{time.perf_counter() - began:.1f} s", "10"))
    return rows


async def _storage(stack: EmbeddedStack) -> list[Row]:
    """Returns bytes per chunk by store: the relations of each schema with indexes, and the object store."""
    process = stack.processes()["retrieval"]
    url = process.environ()["DATABASE_URL"]
    rows: list[Row] = []
    with psycopg.connect(url) as connection:
        size = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c WHERE c.relkind = 'r' "
        size += "AND c.relnamespace = to_regnamespace(%s)"
        chunks = int(_one(connection, "SELECT reltuples FROM pg_class WHERE oid = 'chunk'::regclass"))
        for schema, what in SCHEMAS.items():
            stored = int(_one(connection, size, schema))
            rows.append((f"stored per chunk (of {chunks}): {what}", f"{stored / chunks:.0f} bytes", ""))
    store = sum(path.stat().st_size for path in (stack.folder.path / "object-store").rglob("*") if path.is_file())
    rows.append(("  object store: originals, JSON, Markdown, chunks, vectors", f"{store / chunks:.0f} bytes", ""))
    return rows


def _one(connection: psycopg.Connection[Any], statement: str, *values: object) -> Any:
    row = connection.execute(statement, values).fetchone()  # type: ignore[arg-type]
    return row[0] if row else 0


@contextmanager
def second_worker(stack: EmbeddedStack) -> Any:
    """Runs another worker with the environment of the first."""
    environment = stack.processes()["ingestion-worker"].environ()
    command = [sys.executable, "-m", "ingestion", "worker"]
    with open(stack.folder.path / "second-worker.log", "wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


async def two_workers(folder: Path) -> list[Row]:
    """Compares one worker with two, of one slot each, on the same documents."""
    paths = sorted((PEPS / "t1").glob("*.rst"))[:: max(1, 736 // SAMPLE)]
    if not paths:
        return ABSENT
    rates = []
    for count in (1, 2):
        settings = {"RATE_LIMIT_PER_MINUTE": "0", "WORKER_CONCURRENCY": "1", "CONVERT_THREADS": "1"}
        settings |= {"EMBEDDING_THREADS": "1"}
        documents = folder / f"documents-{count}"
        documents.mkdir(parents=True)
        for path in paths:
            shutil.copyfile(path, documents / path.name)
        with EmbeddedStack.started(fresh(folder / str(count)), SOURCE_ROOTS=str(documents), **settings) as stack:
            async with connected(stack) as http:
                if count == 1:
                    rates.append(await _rate(http, documents, len(paths)))
                else:
                    with second_worker(stack):
                        rates.append(await _rate(http, documents, len(paths)))
    cores = psutil.cpu_count()
    one, two = rates
    return [
        (f"{len(paths)} PEPs, one worker of one slot", f"{one:.2f} documents/s", ""),
        (f"  two such workers, on {cores} cores with all services", f"{two:.2f} documents/s", ""),
        ("  two workers against one", f"{two / one:.2f}", "1.8 when cores allow"),
    ]


async def _rate(http: httpx2.AsyncClient, documents: Path, count: int) -> float:
    began = time.perf_counter()
    config = {"kind": "folder", "path": str(documents), "watch": False}
    (await http.post("/v1/sources", json={"name": "PEPs", "config": config})).raise_for_status()
    await all_done(http, count)
    return count / (time.perf_counter() - began)
