"""Compares search and upload of two checkouts, request by request in turn.

    python tests/benchmarks/two_checkouts.py BEFORE AFTER [DOCUMENTS]

BEFORE and AFTER are checkouts with an environment (`make setup`). Each serves the same documents (reStructuredText of
`../shared/eval/ingest-peps`, 100 by default) from an embedded stack of its own; both stacks run at the same time.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles

import httpx2

REPOSITORY = Path(__file__).resolve().parents[2]
PROPOSALS = REPOSITORY.parent / "shared" / "eval" / "ingest-peps" / "t1"
SEARCHES, PAGES = 300, 60
SERVE = """
import pathlib, sys
from stack import EmbeddedStack
with EmbeddedStack.started(pathlib.Path(sys.argv[1]), RATE_LIMIT_PER_MINUTE="0") as stack:
    print(stack.url, stack.api_key, flush=True)
    sys.stdin.read()
"""


@contextmanager
def served(checkout: Path, folder: Path) -> Iterator[httpx2.Client]:
    """Yields a client of the checkout's stack; the stack stops with the block."""
    folder.mkdir(mode=0o711)
    with subprocess.Popen(
        [str(checkout / ".venv" / "bin" / "python"), "-c", SERVE, str(folder)],
        cwd=checkout / "tests",
        env={"PATH": "/usr/bin:/bin"},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        url, key = process.stdout.readline().split()
        with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=120) as client:
            yield client
        process.communicate()


def upload(client: httpx2.Client, name: str, text: bytes) -> float:
    """Returns the seconds from the request until the document is searchable."""
    began = time.perf_counter()
    answer = client.post("/v1/documents", files=[("files", (name, text))])
    address = f"/v1/documents/{answer.json()['files'][0]['document']['id']}"
    status = "processing"
    while status == "processing":
        status = client.get(address, params={"wait": "searchable", "timeout": 60}).json()["status"]
    assert status == "searchable", status
    return time.perf_counter() - began


def search(client: httpx2.Client, query: str) -> float:
    """Returns the seconds of a search."""
    began = time.perf_counter()
    answer = client.post("/v1/search", json={"query": query}).raise_for_status()
    took = time.perf_counter() - began
    if answer.json()["cached"]:
        raise RuntimeError("an answer of the cache is no figure of a search")
    return took


def in_turn(clients: list[httpx2.Client], times: int, ask: Callable[[httpx2.Client, int], float]) -> list[list[float]]:
    """Returns the seconds of each client; the order of the clients changes each time."""
    took: list[list[float]] = [[] for _ in clients]
    for number in range(times):
        for place in random.Random(number).sample(range(len(clients)), len(clients)):
            took[place].append(ask(clients[place], number))
    return took


def report(what: str, checkouts: list[Path], took: list[list[float]]) -> None:
    """Prints the times of both checkouts and their ratio."""
    for checkout, seconds in zip(checkouts, took, strict=True):
        late = quantiles(seconds, n=20)[18]
        print(f"{what} {checkout.name}: p50 {median(seconds) * 1000:.1f} ms, p95 {late * 1000:.1f} ms")
    print(f"{what}: ratio of the medians {median(took[1]) / median(took[0]):.3f}", flush=True)


def main() -> None:
    checkouts, count = [Path(one).resolve() for one in sys.argv[1:3]], int((*sys.argv, "100")[3])
    texts = [path.read_bytes() for path in sorted(PROPOSALS.glob("*.rst"))[:count]]
    words = b" ".join(texts).decode("utf-8", "replace").split()
    with tempfile.TemporaryDirectory(prefix="attractor-bench-") as temporary, ExitStack() as stacks:
        folder = Path(temporary)
        folder.chmod(0o711)
        clients = [stacks.enter_context(served(one, folder / str(at))) for at, one in enumerate(checkouts)]
        for number, text in enumerate(texts):
            for client in clients:
                upload(client, f"proposal-{number}.rst", text)

        def search_words(client: httpx2.Client, number: int) -> float:
            return search(client, " ".join(words[number * 50 : number * 50 + 6]))

        def upload_page(client: httpx2.Client, number: int) -> float:
            page = " ".join(random.Random(number).choices(words, k=400))
            return upload(client, f"page-{number}.md", f"# Page\n\n{page}".encode())

        report("search", checkouts, in_turn(clients, SEARCHES, search_words))
        report("upload", checkouts, in_turn(clients, PAGES, upload_page))


if __name__ == "__main__":
    main()
