"""Broken and hostile files through a whole stack: each ends as expected, and the worker is unaffected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import psutil
import pytest
from api_calls import EVALUATION, EXAMPLES, PATIENCE, client
from stack import EmbeddedStack

BAD_FILES = EVALUATION / "bad-files"
CONVERTED = "converted"
# The error classes (or `converted`) that satisfy each expectation of the manifest.
FULFILLED = {
    "converts": {CONVERTED},
    "error": {"corrupt-file", "empty-document", "empty-file"},
    "clear error": {"password-protected"},
    "no outgoing request": {CONVERTED},
    "detected or error": {CONVERTED, "corrupt-file"},
    "error, no hang": {"corrupt-file", CONVERTED},
    "error or empty": {"empty-document", "corrupt-file"},
    "OCR or empty": {CONVERTED, "empty-document"},
    "no hang": {CONVERTED, "empty-document", "corrupt-file"},
}
WARM_ROUNDS = 3
GROWTH = 1.10


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    if not BAD_FILES.is_dir():
        pytest.skip("../shared/eval/bad-files is not here")
    with EmbeddedStack.started(tmp_path_factory.mktemp("hostile"), RATE_LIMIT_PER_MINUTE="0") as running:
        yield running


async def outcome(http: httpx2.AsyncClient, name: str, data: bytes) -> str:
    """Returns `converted`, or the error class."""
    response = await http.post("/v1/documents", files=[("files", (name, data))])
    [file] = response.json()["files"]
    if file["document"] is None:
        assert file["message"]
        return str(file["error"])
    while True:
        wait = {"wait": "searchable", "timeout": 60}
        detail = (await http.get(f"/v1/documents/{file['document']['id']}", params=wait)).raise_for_status().json()
        if detail["status"] != "processing":
            break
    if detail["status"] == "searchable":
        return CONVERTED
    [failed] = [stage for stage in detail["stages"] if stage["status"] == "failed"]
    assert failed["error_message"] in detail["explanation"]
    return str(failed["error_class"])


async def resident(stack: EmbeddedStack) -> int:
    """Returns the memory of the worker and its children, once no conversion process is left."""
    worker = stack.processes()["ingestion-worker"]
    async with asyncio.timeout(PATIENCE):
        while True:
            family = worker.children(recursive=True)
            if not [child for child in family if _converts(child)]:
                return sum(_size(process) for process in [worker, *family])
            await asyncio.sleep(1.0)  # idle processes end on their own, without notice


def _converts(process: psutil.Process) -> bool:
    """Returns whether it is a conversion: these are forked from the fork server, so the worker is not their parent."""
    try:
        parent = process.parent()
        return not process.children() and parent is not None and "forkserver" in " ".join(parent.cmdline())
    except psutil.NoSuchProcess:
        return False


def _size(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


@pytest.mark.timeout(900)
async def test_each_hostile_file_gets_its_expected_outcome_and_the_worker_is_unaffected(stack: EmbeddedStack) -> None:
    cases: list[dict[str, Any]] = [json.loads(line) for line in (BAD_FILES / "manifest.jsonl").read_text().splitlines()]
    async with client(stack.url, stack.api_key) as http:
        for number in range(WARM_ROUNDS):
            for path in (path for path in sorted(EXAMPLES.rglob("*")) if path.is_file()):
                data = path.read_bytes() + (b"\n" * number if path.suffix in {".md", ".html", ".py"} else b"")
                await outcome(http, f"{number}-{path.name}", data)
        before = await resident(stack)
        pid = stack.processes()["ingestion-worker"].pid
        ended = {}
        for case in cases:
            path = BAD_FILES / case["file"]
            ended[path.name] = (await outcome(http, path.name, path.read_bytes()), case["expect"])
        wrong = {
            name: (found, expected) for name, (found, expected) in ended.items() if found not in FULFILLED[expected]
        }
        assert wrong == {}
        after = await resident(stack)
        assert stack.processes()["ingestion-worker"].pid == pid
        assert after <= GROWTH * before, f"{before >> 20} MiB before, {after >> 20} MiB after"
        assert await outcome(http, "after.md", b"# After\n\nThe worker still converts.\n") == CONVERTED
