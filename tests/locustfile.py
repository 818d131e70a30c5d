"""People of a team at work, for locust, which `team_at_work.py` runs.

It hands over the team in TEAM; what they saw is in the file TEAM_FIGURES when locust ends.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from locust import FastHttpUser, events
from locust.env import Environment

TEAM = json.loads(os.environ["TEAM"])
KEYS, PAGES = itertools.cycle(TEAM["keys"]), itertools.cycle(map(Path, TEAM["pages"]))


def search(person: FastHttpUser) -> None:
    with person.rest("POST", "/v1/search", json={"query": _question()}, name="search") as response:
        assert response.js["hits"], "no hits"


def answer(person: FastHttpUser) -> None:
    """Asks in a new session, and reads the stream of events to its end."""
    begun = person.client.post("/v1/sessions", json={}, name="begin")
    if begun.status_code != 201:
        return  # which counts as an error
    path, headers = f"/v1/sessions/{begun.json()['id']}/messages", {"Accept": "text/event-stream"}
    body = {"content": _question()}
    with person.client.post(path, json=body, headers=headers, name="answer", catch_response=True) as response:
        if response.status_code in {200, 202} and not _completed(response.content):
            response.failure(f"no answer: {response.content[-300:]!r}")


def sessions(person: FastHttpUser) -> None:
    person.client.get("/v1/sessions", name="sessions")


def documents(person: FastHttpUser) -> None:
    person.client.get("/v1/documents", name="documents")


def memories(person: FastHttpUser) -> None:
    person.client.get("/v1/memories", name="memories")


def remember(person: FastHttpUser) -> None:
    person.client.post("/v1/memories", json={"content": f"The number is {uuid4()}."}, name="remember")


def upload(person: FastHttpUser) -> None:
    page = next(PAGES)
    file = (f"{uuid4()}-{page.name}", page.read_bytes() + f"\n{uuid4()}\n".encode())
    with person.client.post("/v1/documents", files={"files": file}, name="upload", catch_response=True) as response:
        if response.status_code == 202 and not response.json()["files"][0]["document"]:
            response.failure(f"refused: {response.text}")


WAYS: dict[str, Callable[[FastHttpUser], None]] = {
    way.__name__: way for way in (search, answer, sessions, documents, memories, remember, upload)
}


class Person(FastHttpUser):
    """Takes the next of the keys, and thinks before each thing to do."""

    tasks = {WAYS[name]: share for name, share in TEAM["shares"].items()}
    connection_timeout = network_timeout = TEAM["patience_seconds"]

    def on_start(self) -> None:
        self.client.auth_header = f"Bearer {next(KEYS)}"

    def wait_time(self) -> float:
        return random.expovariate(1 / float(TEAM["thinks_seconds"]))


@events.quitting.add_listener
def write_figures(environment: Environment, **_: object) -> None:
    stats, runner = environment.stats, environment.runner
    errors = {f"{one.name}: {one.error}": one.occurrences for one in stats.errors.values()}
    errors |= {one["msg"]: one["count"] for one in runner.exceptions.values()} if runner else {}
    milliseconds = {
        one.name: [one.get_response_time_percentile(share) for share in (0.5, 0.95)] for one in stats.entries.values()
    }
    figures = {"milliseconds": milliseconds, "requests": stats.total.num_requests, "errors": errors}
    Path(os.environ["TEAM_FIGURES"]).write_text(json.dumps(figures), encoding="utf-8")


def _question() -> str:
    return str(random.choice(TEAM["questions"]))


def _completed(events: bytes) -> bool:
    """Returns whether a run's last event completes it with a text."""
    last = events.rstrip().rpartition(b"\n\n")[2]
    return b"event: run_completed" in last and bool(json.loads(last.partition(b"data: ")[2])["content"])
