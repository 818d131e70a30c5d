"""PostgreSQL's own tools, run as the current user."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from backup.errors import ToolFailed
from embedded.engines.engine import plain_environment
from embedded.engines.postgres import installed
from embedded.ports import LOOPBACK

ROLE = "attractor_backup"  # may replicate, and nothing else
SLOT = "attractor_backup"


def tool(name: str) -> str:
    """Returns the path of a tool. Raises NoEngine."""
    return os.fspath(installed() / "bin" / name)


def connection(port: int) -> list[str]:
    """Returns a tool's connection arguments; the password is passed in its environment."""
    return ["--host", LOOPBACK, "--port", str(port), "--username", ROLE, "--no-password"]


def environment(password: str) -> dict[str, str]:
    """Returns the environment for a tool that connects to the server."""
    return {**plain_environment(), "PGPASSWORD": password}


def run_tool(name: str, *arguments: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Returns the tool's output. Raises ToolFailed with its last line."""
    done = subprocess.run(
        [tool(name), *map(str, arguments)],
        env=dict(env or plain_environment()),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise ToolFailed(name, lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout


def major_version() -> int:
    """Returns the major version of PostgreSQL's tools and server."""
    return int(run_tool("postgres", "--version").split()[-1].partition(".")[0])
