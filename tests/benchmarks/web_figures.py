"""The figures of the web UI, in the system's Chromium against a stack of its own: make bench ARGS="--only web".

Documents for scrolling, nodes for zooming and the streamed answer are synthetic answers of the API, given to the real
pages. Quotes are chosen from passages of PDFs that were ingested, and are marked by the real viewer.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import httpx2
from api_calls import REPOSITORY
from benchmarks import web_documents
from benchmarks.figures import Row, fresh
from stack import PATIENT, EmbeddedStack
from web_ui.run import BROWSERS, DOCUMENTS, EXAMPLES, NPM, node

PLAYWRIGHT = "node_modules/@playwright/test/cli.js"
STAMP = Path(sys.prefix) / "attractor-web-stamp"
STARTS = 3
EACH, FROM_LONG = 25, 40
ALIKE = 0.9  # first and last word are cut in proportion, so a character more or less is not wrong


def web_figures(folder: Path) -> list[Row]:
    """Measures the pages, then the build and what it costs a start."""
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return [("the web UI in a browser", "no browser is installed", "")]
    bootstrap("web")
    node("the packages", NPM, "ci", "--ignore-scripts", "--prefer-offline")
    node("types of the API", "scripts/generate-types.mjs")
    return [*_in_the_browser(fresh(folder / "pages"), browser), *_builds(fresh(folder / "builds")), *_starts(folder)]


def bootstrap(command: str, **environment: str) -> None:
    script = REPOSITORY / "infra/embedded/bootstrap.py"
    subprocess.run([sys.executable, script, command], env={**os.environ, **environment}, check=True)


def _in_the_browser(folder: Path, browser: str) -> list[Row]:
    files = {name: folder / f"{name}.json" for name in ("figures", "quotes", "marks")}
    settings = PATIENT | {"CHAT_BASE_URL": "", "RATE_LIMIT_PER_MINUTE": "0"}
    with EmbeddedStack.started(fresh(folder / "stack"), **settings) as stack:
        headers = {"Authorization": f"Bearer {stack.api_key}"}
        pdfs = web_documents.write(fresh(folder / "pdfs"))
        with httpx2.Client(base_url=stack.url, headers=headers, timeout=120) as http:
            _ingest(http, [EXAMPLES / name for name in DOCUMENTS])
            chosen = [quote for kind, paths in pdfs.items() for quote in _quotes(http, kind, _ingest(http, paths))]
        files["quotes"].write_text(json.dumps(chosen), encoding="utf-8")
        dist = Path(next(Path(sys.prefix).glob("lib/python*/site-packages/attractor_web/dist")))
        environment = {name.upper(): str(path) for name, path in files.items()}
        environment |= {"WEB_URL": stack.url, "ATTRACTOR_API_KEY": stack.api_key}
        node("figures", PLAYWRIGHT, "test", "--config=figures.config.ts", "--reporter=line",
             CHROMIUM=browser, DIST=str(dist), **environment)  # fmt: skip
    rows = [tuple(json.loads(line)) for line in files["figures"].read_text(encoding="utf-8").splitlines()]
    return [*rows, *_judged(json.loads(files["marks"].read_text(encoding="utf-8")), pdfs)]


def _ingest(http: httpx2.Client, paths: list[Path]) -> list[dict[str, Any]]:
    """Uploads the files; returns the documents when they are searchable."""
    documents = []
    for path in paths:
        sent = http.post("/v1/documents", files=[("files", (path.name, path.read_bytes()))])
        place = f"/v1/documents/{sent.json()['files'][0]['document']['id']}"
        document = {"status": "processing"}
        while document["status"] == "processing":
            document = http.get(place, params={"wait": "searchable", "timeout": 60}).json()
        assert document["status"] == "searchable", document
        documents.append(document)
    return documents


def _quotes(http: httpx2.Client, kind: str, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Picks sentences of the documents' passages, as the check of citations would quote them."""
    found = []
    for document in documents:
        place, cursor = f"/v1/documents/{document['id']}/chunks", None
        while True:
            page = http.get(place, params={"limit": 100, **({"cursor": cursor} if cursor else {})}).json()
            for chunk in page["items"]:
                names = {"kind": kind, "document_id": document["id"], "document_name": document["name"]}
                names |= {"chunk_id": chunk["chunk_id"], "page": chunk["page"]}
                for start, end in web_documents.sentences(chunk["content"]):
                    found.append({**names, "quote": chunk["content"][start:end], "start": start, "end": end})
            if not (cursor := page.get("next_cursor")):
                break
    return random.Random(0).sample(found, min(FROM_LONG if kind == "long" else EACH, len(found)))


def _judged(marks: list[dict[str, Any]], pdfs: dict[str, list[Path]]) -> list[Row]:
    """Compares what is marked with the quote, by the words that another library reads there."""
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in marks:
        kind = each["kind"]
        path = pdfs[kind][0]
        source = path.with_suffix(".source.pdf") if kind == "scan" else path
        words = web_documents.words_in(source, each["page"], each["words"])
        frame = web_documents.words_in(source, each["page"], each["frames"])
        if each["words"]:
            right = web_documents.likeness(words, each["quote"]) >= ALIKE
            verdicts[kind]["right" if right else "wrong"] += 1
        else:
            verdicts[kind]["framed" if web_documents.holds(frame, each["quote"]) else "not framed"] += 1
    everything = sum(verdicts.values(), Counter[str]())
    return [
        (f"quotes in PDFs, {len(marks)}: words marked right", _share(everything, "right"), "0.9"),
        ("  framed only; the frame has the quote", _share(everything, "framed"), "the rest"),
        ("  neither marked nor in the frame", _share(everything, "not framed"), "0"),
        ("  other words marked", _share(everything, "wrong"), "0"),
        *((f"  {kind}: right, framed, neither, wrong", _all(counts), "") for kind, counts in verdicts.items()),
    ]


def _share(counts: Counter[str], verdict: str) -> str:
    return f"{counts[verdict] / counts.total():.2f}"


def _all(counts: Counter[str]) -> str:
    return ", ".join(str(counts[verdict]) for verdict in ("right", "framed", "not framed", "wrong"))


def _builds(folder: Path) -> list[Row]:
    """Times the package's build with empty caches, and again with what the first one left there."""
    caches = {"UV_CACHE_DIR": str(folder / "uv"), "npm_config_cache": str(folder / "npm")}
    took = []
    for _ in range(2):
        STAMP.unlink(missing_ok=True)
        began = time.monotonic()
        bootstrap("web", **caches)
        took.append(time.monotonic() - began)
    return [
        ("build of the web UI from nothing (empty caches, with downloads)", f"{took[0]:.0f} s", ""),
        ("  again", f"{took[1]:.0f} s", ""),
    ]


def _starts(folder: Path) -> list[Row]:
    """Times `make run` to its first cited answer, alternately with the web UI built and to be built beside it."""
    took: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * STARTS):
        builds = number % 2 == 1
        if builds:
            STAMP.unlink(missing_ok=True)
        took[builds].append(_first_answer(fresh(folder / "start")))
        bootstrap("web")  # on Linux, what the start began ended with it; the package is built for the next one
    without, beside = (sorted(took[builds])[STARTS // 2] for builds in (False, True))
    return [
        (f"first answer of `make run`, web UI built (median of {STARTS})", f"{without:.1f} s", ""),
        ("  built beside the start", f"{beside:.1f} s", ""),
        ("  so it takes longer", f"{beside - without:.1f} s", "0 s"),
    ]


def _first_answer(folder: Path) -> float:
    settings = {"ATTRACTOR_DATA": str(folder), "GATEWAY_PORT": "18460", "INTERNAL_PORTS_FROM": "18461"}
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, REPOSITORY / "infra/embedded/bootstrap.py", "run"],
        cwd=REPOSITORY,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    took = None
    for line in process.stdout:
        if "[1]" in line and took is None:
            took = time.monotonic() - began
        if "Attractor is ready" in line:
            break
    process.terminate()
    process.communicate()
    if took is None:
        raise RuntimeError("the start gave no cited answer")
    return took
