"""The figures, one function each: they return rows (name, measured, aim) and print nothing."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil
from api_calls import EVALUATION, REPOSITORY, question_events
from benchmarks.chat_endpoint import chat_endpoint
from stack import EmbeddedStack

Row = tuple[str, str, str]
PAGES = 40
QUERIES = 300
TURNS = 40
ROUTED = 10


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the percentile by the nearest-rank method."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values: Sequence[float]) -> str:
    """Returns p50 and p95 of seconds, in milliseconds."""
    return f"p50 {1000 * percentile(values, 0.5):.0f} ms, p95 {1000 * percentile(values, 0.95):.0f} ms"


def first_answer(folder: Path) -> list[Row]:
    """Times `make run` in a clone without environment or package cache, until the example question is answered."""
    clone, cache = folder / "clone", folder / "cache"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(REPOSITORY), str(clone)], check=True)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:" + str(Path(sys.base_prefix, "bin")),
        "HOME": str(folder),
        "UV_CACHE_DIR": str(cache),
        "PIP_CACHE_DIR": str(folder / "pip"),
        "GATEWAY_PORT": "18480",
        **{name: value for name, value in os.environ.items() if name.endswith(("_CERT", "CERT_FILE"))},
    }
    began, received = time.monotonic(), _received()
    process = subprocess.Popen(
        ["python3", "infra/embedded/bootstrap.py", "run"],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    output = []
    for line in process.stdout:
        output.append(line)
        if "Attractor is ready" in line:
            break
    seconds, downloaded = time.monotonic() - began, _received() - received
    process.terminate()
    process.communicate()
    if not any("[1]" in line for line in output):
        raise RuntimeError("no cited answer:\n" + "".join(output[-40:]))
    size = _bytes(clone / ".venv")
    return [
        ("empty package cache to first cited answer", f"{seconds:.0f} s", "180 s"),
        ("  downloaded (all that the network brought)", f"{downloaded / 1e6:.0f} MB", ""),
        ("environment on disk", f"{size / 1e6:.0f} MB", ""),
    ]


def second_start(folder: Path) -> list[Row]:
    """Measures a start on existing data, and the idle stack's resident memory by process, including children."""
    with EmbeddedStack.started(folder):
        pass
    with EmbeddedStack.started(folder) as stack:
        time.sleep(5)  # lets the stack become idle
        rows = [("second start to ready", f"{stack.seconds_to_ready:.1f} s", "20 s")]
        sizes = resident_bytes(stack)
        rows.append(("resident memory, idle, all processes", f"{sum(sizes.values()) / 1e6:.0f} MB", "2500 MB"))
        rows += [(f"  {name}", f"{size / 1e6:.0f} MB", "") for name, size in sorted(sizes.items())]
        return rows


async def upload_to_searchable(http: httpx2.AsyncClient) -> list[Row]:
    """Times uploads of one-page Markdown files, one by one, from the request to the response of wait=searchable."""
    took, words = [], (REPOSITORY / "README.md").read_text(encoding="utf-8").split()
    for number in range(PAGES):
        page = " ".join(random.Random(number).choices(words, k=400))
        text = f"# Page {number}\n\n{page[:1200]}\n\n## More\n\n{page[1200:]}\n"
        began = time.perf_counter()
        response = await http.post("/v1/documents", files=[("files", (f"page-{number}.md", text.encode()))])
        identifier = response.json()["files"][0]["document"]["id"]
        state = await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 60})
        assert state.json()["status"] == "searchable"
        took.append(time.perf_counter() - began)
    return [("one-page Markdown, upload to searchable", spread(took), "p50 2000 ms")]


async def search_proposals(http: httpx2.AsyncClient) -> list[Row]:
    """Ingests the Python Enhancement Proposals and searches for their titles and headings."""
    paths = sorted((EVALUATION / "ingest-peps" / "t1").glob("*.rst"))
    if not paths:
        return [("search over the PEPs", "../shared/eval/ingest-peps is not here", "p95 60 ms")]
    began = time.perf_counter()
    identifiers = []
    for start in range(0, len(paths), 20):
        files = [("files", (path.name, path.read_bytes())) for path in paths[start : start + 20]]
        response = await http.post("/v1/documents", files=files)
        identifiers += [one["document"]["id"] for one in response.json()["files"]]
    documents = []
    for identifier in identifiers:
        while True:
            state = await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 60})
            if state.json()["status"] != "processing":
                documents.append(state.json())
                break
    seconds = time.perf_counter() - began
    failed = [one["name"] for one in documents if one["status"] != "searchable"]
    chunks = sum(one["chunk_count"] or 0 for one in documents)
    queries = _queries(paths)
    took = []
    for query in queries:
        began = time.perf_counter()
        response = await http.post("/v1/search", json={"query": query})
        took.append(time.perf_counter() - began)
        assert response.status_code == 200
    return [
        (f"ingest {len(paths)} PEPs ({chunks} chunks, {len(failed)} failed)", f"{seconds:.0f} s", ""),
        (f"search over the PEPs, {len(queries)} queries", spread(took), "p95 60 ms"),
    ]


@dataclass(frozen=True)
class TimedTurn:
    """Seconds until the first token, and the milliseconds of the turn's nodes."""

    first: float
    timings: dict[str, float]


async def added_latency(folder: Path) -> list[Row]:
    """Compares the first token through gateway and orchestrator with a direct call of the endpoint, alternately."""
    with chat_endpoint() as url:
        pairs = await _turns(folder / "rules", url, TURNS, ROUTING="rules")
        routed = await _turns(folder / "model", url, ROUTED, ROUTING="model")
    added = [turn.first - alone for alone, turn in pairs]
    nodes = [(turn.timings["generate_path"] + turn.timings["retrieve"]) / 1000 for _, turn in pairs]
    return [
        ("first token, direct call of the endpoint", spread([alone for alone, _ in pairs]), ""),
        ("first token, through gateway and orchestrator", spread([turn.first for _, turn in pairs]), ""),
        ("added to the first token", spread(added), "p50 60 ms"),
        (
            "  as a ratio of the direct call",
            f"{statistics.median(turn.first / alone for alone, turn in pairs):.1f}",
            "",
        ),
        ("  of it in generate_path and retrieve, routed by rules", spread(nodes), "p50 60 ms, p95 120 ms"),
        ("the router's model, apart", spread([turn.timings["router_model"] / 1000 for _, turn in routed]), ""),
    ]


async def _turns(folder: Path, url: str, number: int, **settings: str) -> list[tuple[float, TimedTurn]]:
    """Returns for each turn the seconds of a direct call before it, and the turn."""
    settings |= {"CHAT_MODEL": "scripted", "CHAT_API_KEY": "none", "RATE_LIMIT_PER_MINUTE": "0"}
    with EmbeddedStack.started(fresh(folder), CHAT_BASE_URL=url, **settings) as stack:
        headers = {"Authorization": f"Bearer {stack.api_key}"}
        async with (
            httpx2.AsyncClient(base_url=stack.url, headers=headers, timeout=60) as http,
            httpx2.AsyncClient(timeout=60) as direct,
        ):
            page = ("files", ("auth.md", b"# AuthService\n\nProjectAlpha depends on AuthService.\n"))
            upload = await http.post("/v1/documents", files=[page])
            identifier = upload.json()["files"][0]["document"]["id"]
            await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 60})
            return [(await _direct(direct, url), await _through(http, turn)) for turn in range(number)]


async def _direct(http: httpx2.AsyncClient, url: str) -> float:
    began = time.perf_counter()
    body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "Who?"}]}
    async with http.stream("POST", f"{url}/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data:") and json.loads(line[5:])["choices"][0]["delta"].get("content"):
                break
    return time.perf_counter() - began


async def _through(http: httpx2.AsyncClient, number: int) -> TimedTurn:
    began, first, timings = time.perf_counter(), 0.0, {}
    async for _, name, data in question_events(http, f"Which project depends on AuthService? ({number})"):
        if name == "message_delta" and not first:
            first = time.perf_counter() - began
        if name == "run_completed":
            timings = data["timings"]
    return TimedTurn(first, timings)


def _queries(paths: Sequence[Path]) -> list[str]:
    titles = [re.search(r"^Title: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE) for path in paths]
    known = [title[1] for title in titles if title]
    picked = random.Random(0).sample(known, min(QUERIES, len(known)))
    return [f"{query} motivation and rationale" if n % 2 else query for n, query in enumerate(picked)]


def resident_bytes(stack: EmbeddedStack) -> dict[str, int]:
    """Returns each service's share of memory, with its children: what processes have in common counts once."""
    sizes = {"launcher": int(psutil.Process(stack.launcher.pid).memory_full_info().pss)}
    for name, process in stack.processes().items():
        sizes[name] = 0
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # a conversion that has ended
                sizes[name] += int(each.memory_full_info().pss)
    return sizes


def _received() -> int:
    """Returns the bytes that this machine has received from others."""
    counters = psutil.net_io_counters(pernic=True)
    return sum(int(counter.bytes_recv) for name, counter in counters.items() if name != "lo")


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def fresh(folder: Path) -> Path:
    """Empties the folder and returns it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def run(coroutine: object) -> list[Row]:
    return asyncio.run(coroutine)  # type: ignore[arg-type]
