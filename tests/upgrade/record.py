"""Makes the recording for `test_upgrade.py`: runs an older checkout, fills it, and saves its data.

usage: PYTHONPATH=tests python -m upgrade.record CHECKOUT     (a checkout whose environment is set up)

The recorded stack is caught in the middle of its work: a document is queued and a run is being answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
from benchmarks.scripted_endpoint import serving
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from upgrade.recording import FOLDER, save

from embedded.ports import free_port

SECONDS = 240.0
UPLOADED = ("services.md", "decisions/adr-003-userdb-on-postgresql.md", "handbook/onboarding.html")
SYNCHRONISED = ("incidents/inc-112-userdb-connections.md", "incidents/inc-118-duplicate-receipts.md")
QUESTION = "Which projects depend on AuthService?"
UNANSWERED = "Which services use UserDB?"
WORDS = ("ProjectAlpha ", "depends ", "on ", "AuthService ", "[1].")


class Endpoint:
    """A chat endpoint that answers with one cited sentence; after `hang` its answers start but never end."""

    def __init__(self) -> None:
        self.hanging, self.asked, self.released = False, threading.Event(), threading.Event()

    async def completions(self, _: Request) -> Response:
        return StreamingResponse(self.chunks(), media_type="text/event-stream")

    async def chunks(self) -> AsyncIterator[str]:
        for word in WORDS:
            yield _event({"index": 0, "delta": {"content": word}, "finish_reason": None})
            if self.hanging:
                self.asked.set()
                while not self.released.is_set():
                    yield ": still thinking\n\n"
                    await asyncio.sleep(0.2)
        yield _event({"index": 0, "delta": {}, "finish_reason": "stop"})
        yield "data: [DONE]\n\n"

    def hang(self) -> None:
        self.hanging = True


def _event(choice: dict[str, object]) -> str:
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


@contextmanager
def running(checkout: Path, data: Path, **settings: str) -> Iterator[str]:
    """Runs the checkout's stack on the data folder; yields its URL."""
    port = free_port()
    python = checkout / ".venv/bin/python"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "PYTHONPATH"))},
        **{"ATTRACTOR_DATA": str(data), "GATEWAY_PORT": str(port), "RATE_LIMIT_PER_MINUTE": "0"},
        **settings,
    }
    command = [str(python), "-m", "embedded", "run", "--no-demo"]
    with open(data / "launcher.log", "wb") as log:
        launcher = subprocess.Popen(command, cwd=data, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + SECONDS
        while b"Attractor is ready" not in (data / "launcher.log").read_bytes():
            if launcher.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((data / "launcher.log").read_text())
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        launcher.send_signal(signal.SIGTERM)
        launcher.wait(120)


def fill(http: httpx2.Client, checkout: Path, data: Path) -> dict[str, Any]:
    """Creates one of everything; returns the values that the test compares with."""
    examples = checkout / "infra/examples"
    files = [("files", (Path(name).name, (examples / name).read_bytes())) for name in UPLOADED]
    files.append(("files", ("broken.docx", b"PK\x03\x04 this archive was cut off")))
    answer = _sent(http.post("/v1/documents", files=files))
    documents = {one["name"]: one["document"]["id"] for one in answer["files"]}
    for identifier in documents.values():
        _settled(http, identifier)

    handbook = data / "documents" / "incidents"
    handbook.mkdir()
    for name in SYNCHRONISED:
        shutil.copyfile(examples / name, handbook / Path(name).name)
    config = {"kind": "folder", "path": str(handbook), "watch": False}
    source = _sent(http.post("/v1/sources", json={"name": "Incidents", "config": config}))["id"]
    while _sent(http.get(f"/v1/sources/{source}/syncs"))["items"][0]["status"] in {"queued", "running"}:
        time.sleep(0.2)
    for one in _sent(http.get("/v1/documents", params={"limit": 200}))["items"]:
        documents[one["name"]] = one["id"]
        _settled(http, one["id"])

    session = _sent(http.post("/v1/sessions", json={"title": "Dependencies"}))["id"]
    asked = _asked(http, session, QUESTION)
    assert asked["status"] == "completed", asked
    _sent(http.post("/v1/memories", json={"content": "We release on Thursdays."}))
    table = "subject,predicate,object\nBillingRouter,owned by,Payments team\n"
    _sent(http.post("/v1/graph/triples", params={"name": "owners", "format": "csv"}, content=table))
    workspace = _sent(http.get("/v1/me"))["workspace"]["id"]
    body, headers = {"name": "repeatable", "role": "editor"}, {"Idempotency-Key": "recorded"}
    key = _sent(http.post(f"/v1/workspaces/{workspace}/keys", json=body, headers=headers))["key"]
    found = {"documents": documents, "source": source, "session": session, "run": asked["id"]}
    return found | {"repeatable_key": key}


def catch_at_work(http: httpx2.Client, data: Path, endpoint: Endpoint) -> dict[str, Any]:
    """Leaves a document queued and a run unanswered."""
    worker = psutil.Process(json.loads((data / "processes.json").read_text())["ingestion-worker"]["pid"])
    for process in [worker, *worker.children(recursive=True)]:
        process.suspend()
    queued = ("queued.md", b"# Queue\n\nThe lighthouse keeper counts herring barrels.\n")
    answer = _sent(http.post("/v1/documents", files=[("files", queued)]))
    session = _sent(http.post("/v1/sessions", json={"title": "Interrupted"}))["id"]
    endpoint.hang()
    run = _sent(http.post(f"/v1/sessions/{session}/messages", json={"content": UNANSWERED}))["id"]
    if not endpoint.asked.wait(60):
        raise RuntimeError("the chat endpoint was not asked")
    return {"queued": answer["files"][0]["document"]["id"], "interrupted_run": run, "interrupted_session": session}


def _asked(http: httpx2.Client, session: str, question: str) -> dict[str, Any]:
    run = _sent(http.post(f"/v1/sessions/{session}/messages", json={"content": question}))
    while run["status"] in {"queued", "running"}:
        time.sleep(0.2)
        run = _sent(http.get(f"/v1/runs/{run['id']}"))
    return run


def _settled(http: httpx2.Client, identifier: str) -> None:
    _sent(http.get(f"/v1/documents/{identifier}", params={"wait": "settled", "timeout": 60}))


def _sent(response: httpx2.Response) -> dict[str, Any]:
    if not response.is_success:
        raise RuntimeError(f"{response.request.url}: {response.status_code} {response.text}")
    return dict(response.json())


def main(checkout: Path) -> None:
    endpoint = Endpoint()
    routes = [Route("/v1/chat/completions", endpoint.completions, methods=["POST"])]
    with tempfile.TemporaryDirectory() as place, serving(routes) as url:
        data = Path(place)
        data.chmod(0o711)
        chat = {"CHAT_BASE_URL": f"{url}/v1", "CHAT_MODEL": "scripted", "CHAT_API_KEY": "none"}
        with running(checkout, data, **chat) as address:
            key = (data / "admin.key").read_text().strip()
            headers = {"Authorization": f"Bearer {key}"}
            with httpx2.Client(base_url=address, headers=headers, timeout=90) as http:
                about = {"key": key, **fill(http, checkout, data), **catch_at_work(http, data, endpoint)}
                revision = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
                about["revision"] = subprocess.run(revision, check=True, capture_output=True, text=True).stdout.strip()
                save(FOLDER, checkout, data, about)
            endpoint.released.set()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
