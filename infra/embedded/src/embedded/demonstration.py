"""What a newcomer sees after the start: the example documents, a question answered from them, where to go next."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from embedded.processes.supervisor import Supervisor
from embedded.progress import Progress
from embedded.topology import GATEWAY, Site

QUESTION = "Which projects depend on AuthService?"


class Demonstration:
    """Ingests and asks only once for a data folder: a file there remembers it."""

    def __init__(self, root: Path, site: Site, progress: Progress, supervisor: Supervisor) -> None:
        self._root, self._site, self._progress, self._supervisor = root, site, progress, supervisor
        self._command = Path(sys.executable).with_name("attractor")
        self._marker = site.data / "examples-ingested"

    def show(self, demo: bool) -> None:
        """Examples and answer where `demo` is wanted and new, then the way in. A failure here never ends the run."""
        if demo and not self._marker.exists():
            self._ingest_and_ask()
        self._tell()

    def _ingest_and_ask(self) -> None:
        examples = self._root / "infra/examples"
        self._progress.line("ingesting the example documents (infra/examples)")
        if not self._call(["ingest", str(examples)]):
            return
        self._progress.line(f'asking: "{QUESTION}"')
        if self._call(["ask", QUESTION]):
            self._marker.touch()

    def _call(self, arguments: Sequence[str]) -> bool:
        environment = {
            **self._site.user,
            "ATTRACTOR_URL": self._site.url(GATEWAY),
            "ATTRACTOR_API_KEY": self._key(),
        }
        with subprocess.Popen([str(self._command), *arguments], env=environment) as client:
            try:
                self._supervisor.run(done=lambda: client.poll() is not None)
            except BaseException:
                client.kill()
                raise
        if client.returncode:
            self._progress.warn(f"attractor {arguments[0]} ended with exit code {client.returncode}; Attractor runs on")
        return client.returncode == 0

    def _key(self) -> str:
        given = self._site.user.get("ADMIN_API_KEY")
        return given or self._site.admin_key_file.read_text(encoding="utf-8").strip()

    def _tell(self) -> None:
        url, key = self._site.url(GATEWAY), self._site.admin_key_file
        given = bool(self._site.user.get("ADMIN_API_KEY"))
        where = "the value of ADMIN_API_KEY" if given else str(key)
        value = "$ADMIN_API_KEY" if given else f"$(cat {key})"
        command = _short(self._command)
        self._progress.say()
        self._progress.line(f"Attractor is ready at {url}")
        self._progress.say(f"  API and its documentation   {url}/docs")
        self._progress.say(f"  API key                     {where}")
        self._progress.say(f"  logs                        {self._site.data / 'logs'}")
        self._progress.say("Try in another terminal:")
        self._progress.say(f'  export ATTRACTOR_URL={url} ATTRACTOR_API_KEY="{value}"')
        self._progress.say(f'  {command} ask "Which projects are affected when UserDB is down?"')
        self._progress.say(f"  {command} ingest PATH")
        self._progress.say(f'  {command} search "refresh tokens"')
        self._progress.say("Ctrl-C stops everything; your data stay.")


def _short(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
