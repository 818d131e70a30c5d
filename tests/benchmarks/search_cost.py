"""The cost of a search in a running stack: CPU by process, and times with 1, 4 and 16 clients.

    cd tests && PYTHONPATH=. ../.venv/bin/python benchmarks/search_cost.py FOLDER DATA [DOCUMENTS]

FOLDER is a set in BEIR's format (`../shared/eval/mh-2wiki`); its documents are uploaded unless the stack in DATA (a
folder, kept for the next run) has them. Every search goes through the gateway with text that was not asked before: the
set's questions, then beginnings of its documents. The stack's code is that of the folder and the Python, so a checkout
without this file is measured by calling it from there. BENCH_SEARCHES (200) are asked by each number of clients.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2
from benchmarks.figures import spread
from stack import EmbeddedStack

CLIENTS = (1, 4, 16)
SEARCHES = int(os.environ.get("BENCH_SEARCHES", "200"))  # with each number of clients
TOGETHER = 50  # files of an upload


def queries(folder: Path, documents: list[dict[str, str]]) -> Iterator[str]:
    """Yields texts, none of them twice."""
    for line in (folder / "queries.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)["text"]
    for number in itertools.count():
        for one in random.Random(number).sample(documents, len(documents)):
            words = one["text"].split()
            yield " ".join([one["title"], *words[number * 6 : number * 6 + 9]])


def busy(stack: EmbeddedStack) -> Counter[str]:
    """Returns the CPU seconds of the stack's processes by name, those of PostgreSQL by database user."""
    used: Counter[str] = Counter()
    for name, parent in stack.processes().items():
        for process in [parent, *parent.children(recursive=True)]:
            title = " ".join(process.cmdline()).split()
            user = title[1].removeprefix("attractor_") if len(title) > 3 and title[0] == "postgres:" else ""
            times = process.cpu_times()
            used[f"{name} of {user}" if user else name] += times.user + times.system
    return used


async def load(http: httpx2.AsyncClient, documents: list[dict[str, str]]) -> None:
    """Uploads the documents, and waits until the last of them are in the graph."""
    for start in range(0, len(documents), TOGETHER):
        some = documents[start : start + TOGETHER]
        files = [("files", (f"{one['id']}.md", f"# {one['title']}\n\n{one['text']}\n".encode())) for one in some]
        answer = (await http.post("/v1/documents", files=files)).json()
        last = answer["files"][-1]["document"]["id"]
        if start % (TOGETHER * 10) == 0:
            await http.get(f"/v1/documents/{last}", params={"wait": "graphed", "timeout": 300})
    while True:
        ids = [one["document"]["id"] for one in answer["files"]]
        asked = [http.get(f"/v1/documents/{one}", params={"wait": "graphed", "timeout": 300}) for one in ids]
        states = [one.json() for one in await asyncio.gather(*asked)]
        if all(one["status"] != "processing" for one in states):
            return


async def ask(http: httpx2.AsyncClient, texts: list[str], clients: int) -> tuple[list[float], list[int]]:
    """Returns the seconds of each search, and how many legs were late in each."""
    seconds, late, waiting = list[float](), list[int](), iter(texts)

    async def client() -> None:
        for text in waiting:
            began = time.perf_counter()
            answer = (await http.post("/v1/search", json={"query": text})).raise_for_status().json()
            seconds.append(time.perf_counter() - began)
            if answer["cached"]:
                raise RuntimeError("an answer of the cache is no figure of a search")
            late.append(sum(leg["error"] is not None for leg in answer["legs"]))

    await asyncio.gather(*(client() for _ in range(clients)))
    return seconds, late


async def measure(stack: EmbeddedStack, folder: Path, documents: list[dict[str, str]]) -> None:
    headers = {"Authorization": f"Bearer {stack.api_key}"}
    async with httpx2.AsyncClient(base_url=stack.url, headers=headers, timeout=310) as http:
        listed = await http.get("/v1/documents", params={"limit": 1})
        if not listed.json()["items"]:
            await load(http, documents)
        texts = queries(folder, documents)
        await ask(http, list(itertools.islice(texts, 60)), 4)
        for clients in CLIENTS:
            asked, before, began = list(itertools.islice(texts, SEARCHES)), busy(stack), time.perf_counter()
            seconds, late = await ask(http, asked, clients)
            wall, used = time.perf_counter() - began, busy(stack) - before
            print(f"{clients} clients: {spread(seconds)}, {len(asked) / wall:.1f}/s, {sum(late)} legs late")
            print(f"  CPU of a search: {1000 * used.total() / len(asked):.1f} ms", flush=True)
            for name, spent in used.most_common(8):
                print(f"    {name}: {1000 * spent / len(asked):.1f}", flush=True)


def main() -> None:
    folder, data = Path(sys.argv[1]), Path(sys.argv[2])
    lines = (folder / "corpus.jsonl").read_text("utf-8").splitlines()
    documents = [json.loads(line) for line in lines][: int((*sys.argv, "10000000")[3])]
    data.mkdir(mode=0o711, exist_ok=True)
    with EmbeddedStack.started(data, RATE_LIMIT_PER_MINUTE="0") as stack:
        asyncio.run(measure(stack, folder, documents))


if __name__ == "__main__":
    main()
