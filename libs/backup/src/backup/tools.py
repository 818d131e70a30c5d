"""PostgreSQL's own tools, run as the current user."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from backup.errors import ToolFailed

SLOT = "attractor_backup"


@dataclass(frozen=True)
class Tools:
    """The tools in a folder; `environment` is all that they see of their caller's."""

    folder: Path
    environment: Mapping[str, str]

    def path(self, name: str) -> str:
        return os.fspath(self.folder / name)

    def run(self, name: str, *arguments: str | Path, database_url: str | None = None) -> str:
        """Returns the tool's output. Raises ToolFailed with its last line."""
        done = subprocess.run(
            [self.path(name), *(connection(database_url) if database_url else ()), *map(str, arguments)],
            env=self.connecting(database_url) if database_url else dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode:
            lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            raise ToolFailed(name, lines[-1] if lines else f"exit code {done.returncode}")
        return done.stdout

    def connecting(self, database_url: str) -> dict[str, str]:
        """Returns the environment of a tool that connects to the server: with the password."""
        return {**self.environment, "PGPASSWORD": str(conninfo_to_dict(database_url).get("password", ""))}

    def major_version(self) -> int:
        """Returns the major version of the tools and the server."""
        return int(self.run("postgres", "--version").split("PostgreSQL) ")[1].partition(".")[0])


def connection(database_url: str) -> list[str]:
    """Returns a tool's connection arguments, without the password, which process lists would show."""
    parts = {name: value for name, value in conninfo_to_dict(database_url).items() if name != "password"}
    return [f"--dbname={make_conninfo('', **parts)}", "--no-password"]
