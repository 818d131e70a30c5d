"""Prometheus, Alertmanager and the exporters beside a running Compose stack, made quick enough for a test if wanted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import yaml
from api_calls import PATIENCE, REPOSITORY

OBSERVERS = ("prometheus", "alertmanager", "postgres-exporter", "redis-exporter")
INTERVAL, WINDOW = "5s", "30s"  # instead of 15 s between scrapes, and of minutes that a rule looks back and waits
RULES: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / "infra/prometheus/rules.yml").read_text("utf-8"))["groups"]
RUNBOOKS = (REPOSITORY / "docs" / "runbooks.md").read_text(encoding="utf-8")
FIRING, RESOLVED = "firing", "resolved"


def shell(command: str) -> str:
    """Runs a command as an operator would, in the repository; returns its output. Raises AssertionError with it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=REPOSITORY,
        env=os.environ | {"PATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def runbook(alert: str, command: str, **places: str) -> None:
    """Runs a command of the alert's entry, with its capitalised placeholders replaced."""
    entry = RUNBOOKS.partition(f"\n## {alert}\n")[2].partition("\n## ")[0]
    assert f"`{command}`" in entry, f"the entry {alert} does not say {command}"
    for place, value in places.items():
        command = command.replace(place, value)
    shell(command)


class AlertReceiver:
    """Hears what Alertmanager tells a receiver."""

    def __init__(self) -> None:
        self._states: dict[frozenset[tuple[str, str]], str] = {}
        self._told = threading.Condition()

    def take(self, alerts: list[dict[str, Any]]) -> None:
        with self._told:
            self._states |= {frozenset(one["labels"].items()): one["status"] for one in alerts}
            self._told.notify_all()

    def wait(self, alert: str, status: str, **labels: str) -> None:
        """Blocks until one alert with these labels is firing, or all of them are resolved."""
        wanted = {"alertname": alert, **labels}.items()

        def heard() -> bool:
            states = [state for known, state in self._states.items() if known >= wanted]
            return status in states and (status == FIRING or FIRING not in states)

        with self._told:
            assert self._told.wait_for(heard, PATIENCE), f"{alert} is not {status}; told: {self._states}"


@contextmanager
def listening() -> Iterator[tuple[AlertReceiver, int]]:
    """Yields a receiver, and its port on all addresses of this machine."""
    receiver = AlertReceiver()

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["alerts"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("0.0.0.0", 0), Webhook)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield receiver, server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Watch:
    """The running observers. `receiver` hears all alerts."""

    http: httpx2.Client
    receiver: AlertReceiver

    def value(self, query: str) -> list[dict[str, Any]]:
        """Returns the samples of an instant query."""
        answer = self.http.get("/api/v1/query", params={"query": query})
        assert answer.status_code == 200, f"{query}: {answer.text}"
        return list(answer.json()["data"]["result"])

    def scrapes(self) -> bool:
        """Returns whether it answers and has reached each target."""
        try:
            ready = self.http.get("/-/ready").status_code == 200
        except httpx2.TransportError:
            return False
        return ready and bool(self.value("up")) and not self.value("up == 0")

    def without_data(self, queries: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Returns the queries that have no data, waiting for scrapes as long as there are any."""
        deadline = time.monotonic() + PATIENCE
        while True:
            queries = [(where, query) for where, query in queries if not self.value(query)]
            if not queries or time.monotonic() > deadline:
                return queries
            time.sleep(1)  # Prometheus does not tell when it has scraped


@contextmanager
def watching(folder: Path, hurried: bool = True) -> Iterator[Watch]:
    """Starts the observers with configurations made from the real ones in `folder`, and removes them.

    Unless `hurried`, they scrape, wait and group as the real ones do.
    """
    with listening() as (receiver, port):
        override = _write(folder, port, hurried)
        compose = f"docker compose -f compose.yaml -f {override}"
        # Beside a stack that runs; Compose would give up if the check of a busy store came late.
        shell(f"{compose} run --rm --no-deps --no-TTY monitor-migrate")
        shell(f"{compose} up --detach --no-deps {' '.join(OBSERVERS)}")
        try:
            address = shell(f"{compose} port prometheus 9090").strip()
            with httpx2.Client(base_url=f"http://{address}", trust_env=False, timeout=30) as http:
                watch = Watch(http, receiver)
                eventually(watch.scrapes)
                yield watch
        finally:
            shell(f"{compose} rm --force --stop --volumes {' '.join(OBSERVERS)}")


def _write(folder: Path, port: int, hurried: bool) -> Path:
    folder.chmod(0o755)
    prometheus = yaml.safe_load((REPOSITORY / "infra/prometheus/prometheus.yml").read_text("utf-8"))
    alertmanager = yaml.safe_load((REPOSITORY / "infra/alertmanager/alertmanager.yml").read_text("utf-8"))
    if hurried:
        times = ("scrape_interval", "scrape_timeout", "evaluation_interval")
        prometheus["global"] = dict.fromkeys(times, INTERVAL)
        for job in prometheus["scrape_configs"]:
            for found in job.get("dns_sd_configs", []):
                found["refresh_interval"] = INTERVAL
        alertmanager["route"] |= {"group_wait": "0s", "group_interval": "1s"}
    alertmanager["route"]["receiver"] = "test"
    alertmanager["receivers"] = [
        {"name": "test", "webhook_configs": [{"url": f"http://host.docker.internal:{port}/", "send_resolved": True}]}
    ]
    for name, made in (("prometheus.yml", prometheus), ("alertmanager.yml", alertmanager)):
        (folder / name).write_text(yaml.safe_dump(made), encoding="utf-8")
    (folder / "rules.yml").write_text(yaml.safe_dump({"groups": quick(RULES) if hurried else RULES}), encoding="utf-8")
    services: dict[str, Any] = {
        # Its own networks publish no port. What both keep is in nameless volumes, which end with them.
        "prometheus": {
            "volumes": [f"{folder}:/etc/prometheus:ro", "/prometheus"],
            "networks": ["services", "watching", "edge"],
            "ports": ["127.0.0.1::9090"],
        },
        "alertmanager": {
            "volumes": [f"{folder}:/etc/alertmanager:ro", "/alertmanager"],
            "extra_hosts": ["host.docker.internal:host-gateway"],
        },
    }
    override = folder / "compose.test.yaml"
    override.write_text(yaml.safe_dump({"services": services}), encoding="utf-8")
    return override


def quick(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the groups with rules that wait and look back for less time; thresholds stay."""
    made: list[dict[str, Any]] = json.loads(json.dumps(groups))
    for group in made:
        for rule in group["rules"]:
            rule["expr"] = re.sub(r"\[\d+m\]", f"[{WINDOW}]", rule["expr"])
            if "for" in rule:
                rule["for"] = INTERVAL
    return made


def observed_side(expression: str) -> str:
    """Returns a rule's expression without its thresholds, so that it has a value while all is well."""
    return re.sub(r" (?:[<>]=?|==) [\d.* ]*\d(?= or |$)", "", expression)


def eventually(condition: Callable[[], object]) -> None:
    """Waits for what nothing announces."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)
