"""The cost of many small documents on a whole stack: CPU time by process, to ingest them and to delete their source."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil
from benchmarks.figures import Row, fresh
from benchmarks.ingestion_figures import all_done, connected
from stack import EmbeddedStack

FILES = int(os.environ.get("BENCH_FILES", "400"))
WAIT_SECONDS = 300
PEOPLE = ["Ada Brandt", "Boris Kim", "Carla Diaz", "Deniz Acar", "Elif Sommer", "Femi Ojo", "Greta Lund", "Hugo Weiss"]
PLACES = ["Hamburg", "Lyon", "Porto", "Tallinn", "Graz", "Cork"]
THINGS = ["pump", "valve", "sensor", "panel", "gearbox", "filter", "cable", "motor", "bracket", "display"]


def small_page(number: int) -> str:
    """Returns a page of about 250 words, which differs from the others in its names, dates and amounts."""
    draw = random.Random(number)
    paragraphs = []
    for section in ("Situation", "Decision", "Next steps"):
        sentences = [
            f"{draw.choice(PEOPLE)} checked {draw.choice(THINGS)} {draw.randrange(10_000)} in {draw.choice(PLACES)} on "
            f"{draw.randrange(1, 29)} March 2026 and wrote down {draw.randrange(2, 90)} hours of work."
            for _ in range(4)
        ]
        paragraphs.append(f"## {section}\n\n{' '.join(sentences)}")
    return f"# Report {number} on the {draw.choice(THINGS)}\n\n" + "\n\n".join(paragraphs) + "\n"


def processor_seconds(stack: EmbeddedStack) -> Counter[str]:
    """Returns the CPU seconds of each part with its children; those of PostgreSQL by the role of the session."""
    spent: Counter[str] = Counter()
    for name, parent in stack.processes().items():
        with suppress(psutil.NoSuchProcess):
            for process in [parent, *parent.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    spent[_part(name, parent, process)] += sum(process.cpu_times()[:2])
            spent[f"{name}: ended children"] += sum(parent.cpu_times()[2:4])
    return spent


def _part(name: str, parent: psutil.Process, process: psutil.Process) -> str:
    if process == parent:
        return name
    if name != "postgres":
        return f"{name}: children"
    words = " ".join(process.cmdline()).split()
    role = next((word for word in words if word.startswith("attractor_")), "its own work")
    return f"postgres: {role.removeprefix('attractor_')}"


async def small_files(folder: Path) -> list[Row]:
    """Measures the synchronisation of a folder of small files to the graph's end, then the deletion of its source."""
    documents = folder / "documents"
    documents.mkdir(parents=True)
    for number in range(FILES):
        (documents / f"report-{number}.md").write_text(small_page(number), encoding="utf-8")
    settings = {"RATE_LIMIT_PER_MINUTE": "0", "SOURCE_ROOTS": str(documents)}
    with EmbeddedStack.started(fresh(folder / "stack"), **settings) as stack:
        async with connected(stack) as http:
            return await _measured(stack, http, documents)


async def _measured(stack: EmbeddedStack, http: httpx2.AsyncClient, documents: Path) -> list[Row]:
    await _first_document(http)
    before, began = processor_seconds(stack), time.perf_counter()
    config = {"kind": "folder", "path": str(documents), "watch": False}
    source = (await http.post("/v1/sources", json={"name": "Reports", "config": config})).raise_for_status().json()
    await all_done(http, FILES + 1)
    searchable = time.perf_counter() - began
    await _graphed(http)
    rows = _rows("ingest", processor_seconds(stack) - before, time.perf_counter() - began)
    rows.insert(1, ("  all searchable", f"{FILES / searchable:.1f} documents/s", "30"))
    before, began = processor_seconds(stack), time.perf_counter()
    gone = await http.delete(f"/v1/sources/{source['id']}", params={"timeout": WAIT_SECONDS})
    receipt = gone.raise_for_status().json()
    if receipt["documents"] != FILES or receipt["pending_documents"]:
        raise RuntimeError(f"not all are deleted: {receipt}")
    return rows + _rows("delete", processor_seconds(stack) - before, time.perf_counter() - began)


async def _first_document(http: httpx2.AsyncClient) -> None:
    """Takes in one document, so that models are loaded and processes started."""
    answer = await http.post("/v1/documents", files=[("files", ("first.md", small_page(FILES).encode()))])
    identifier = answer.raise_for_status().json()["files"][0]["document"]["id"]
    wait = {"wait": "settled", "timeout": WAIT_SECONDS}
    (await http.get(f"/v1/documents/{identifier}", params=wait)).raise_for_status()


async def _graphed(http: httpx2.AsyncClient) -> None:
    """Waits until no document has a stage to come; asking for each would cost a tenth of what is measured."""
    while True:
        summary = (await http.get("/v1/documents/summary")).raise_for_status().json()
        if not any(summary["by_stage"].values()):
            return
        await asyncio.sleep(0.5)


def _rows(what: str, spent: Counter[str], seconds: float) -> list[Row]:
    total = sum(spent.values())
    rows: list[Row] = [
        (
            f"{what} {FILES} small files",
            f"{FILES / seconds:.1f} documents/s, {1000 * total / FILES:.1f} ms of CPU each",
            "",
        )
    ]
    for part, each in spent.most_common():
        if each / FILES >= 0.0001:
            rows.append((f"  {part}", f"{1000 * each / FILES:.1f} ms", ""))
    return rows
