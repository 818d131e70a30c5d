"""The tour after the first start: ingests the example documents, asks a question, shows where to go next."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2

from embedded.processes.supervisor import Supervisor
from embedded.progress import StartProgress

QUESTION = "Which projects depend on AuthService?"
GRAPH_SECONDS = 60.0


@dataclass(frozen=True)
class Demonstration:
    """Ingests the examples and asks a question, once per data folder, which is recorded in a file there.

    `root` is the repository, `user` the user's settings, `key_file` holds the administrator's key.
    """

    root: Path
    data: Path
    user: Mapping[str, str]
    url: str
    key_file: Path
    progress: StartProgress
    supervisor: Supervisor

    @property
    def command(self) -> Path:
        return Path(sys.executable).with_name("attractor")

    def show(self, demo: bool) -> None:
        """Runs the demonstration if wanted and new, then prints how to connect. A failure never ends the run."""
        marker = self.data / "examples-ingested"
        if demo and not marker.exists() and self._ingest_and_ask():
            marker.touch()
        self._tell()

    def _ingest_and_ask(self) -> bool:
        examples = self.root / "infra/examples"
        self.progress.line("ingesting the example documents (infra/examples)")
        if not self._call(["ingest", str(examples)]):
            return False
        with self.progress.step("reading them into the knowledge graph"):
            self._await_graph()
        self.progress.line(f'asking: "{QUESTION}"')
        return self._call(["ask", QUESTION])

    def _await_graph(self) -> None:
        """Waits up to a minute until the graph has the examples; an answer says if some are missing."""
        deadline = time.monotonic() + GRAPH_SECONDS
        headers = {"Authorization": f"Bearer {self._key()}"}
        try:
            with httpx2.Client(base_url=self.url, headers=headers, timeout=90.0, trust_env=False) as client:
                documents = client.get("/v1/documents", params={"limit": 100}).raise_for_status().json()["items"]
                for one in documents:
                    left = max(0.0, deadline - time.monotonic())
                    waiting = {"wait": "graphed", "timeout": f"{left:.1f}"}
                    client.get(f"/v1/documents/{one['id']}", params=waiting).raise_for_status()
        except httpx2.HTTPError as error:
            self.progress.warn(f"asking without waiting for the knowledge graph: {error}")

    def _call(self, arguments: Sequence[str]) -> bool:
        environment = {**self.user, "ATTRACTOR_URL": self.url, "ATTRACTOR_API_KEY": self._key()}
        with subprocess.Popen([str(self.command), *arguments], env=environment) as client:
            try:
                self.supervisor.run(done=lambda: client.poll() is not None)
            except BaseException:
                client.kill()
                raise
        if client.returncode:
            self.progress.warn(
                f"attractor {arguments[0]} ended with exit code {client.returncode}; Attractor keeps running"
            )
        return client.returncode == 0

    def _key(self) -> str:
        return self.user.get("ADMIN_API_KEY") or self.key_file.read_text(encoding="utf-8").strip()

    def _tell(self) -> None:
        url, key = self.url, self.key_file
        given = bool(self.user.get("ADMIN_API_KEY"))
        where = "the value of ADMIN_API_KEY" if given else str(key)
        value = "$ADMIN_API_KEY" if given else f"$(cat {key})"
        command = _short(self.command)
        self.progress.say()
        self.progress.line(f"Attractor is ready at {url}")
        self.progress.say(f"  web UI                      {self._link()}")
        self.progress.say(f"  API key                     {where}")
        self.progress.say(f"  API and its documentation   {url}/docs")
        self.progress.say(f"  logs                        {self.data / 'logs'}")
        self.progress.say("Try in another terminal:")
        self.progress.say(f'  export ATTRACTOR_URL={url} ATTRACTOR_API_KEY="{value}"')
        self.progress.say(f'  {command} ask "Which projects are affected when UserDB is down?"')
        self.progress.say(f"  {command} ingest PATH")
        self.progress.say(f'  {command} search "refresh tokens"')
        self.progress.say("Ctrl-C stops everything; your data is kept.")

    def _link(self) -> str:
        """Returns the URL of the web UI, with a one-time sign-in code."""
        headers = {"Authorization": f"Bearer {self._key()}"}
        try:
            with httpx2.Client(timeout=10.0, trust_env=False) as client:
                made = client.post(f"{self.url}/v1/auth/codes", headers=headers).raise_for_status().json()
        except httpx2.HTTPError as error:
            self.progress.warn(f"no sign-in link: {error}")
            return f"{self.url}   (sign in with the API key)"
        return f"{self.url}/#code={made['code']}   (signs in once, within an hour)"


def _short(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
