"""A team at work, made by locust; in a process of its own, as gevent patches the standard library."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

LOCUSTFILE = Path(__file__).with_name("locustfile.py")


@dataclass(frozen=True)
class Team:
    """How many work with which keys, which files they upload and what they ask.

    `shares` weighs what they do, by the names of the functions in `locustfile.py`; everyone thinks for `thinks_seconds`
    on average before each.
    """

    people: int
    keys: Sequence[str]
    pages: Sequence[str]
    questions: Sequence[str]
    shares: Mapping[str, int]
    thinks_seconds: float
    patience_seconds: float = 240.0


@dataclass(frozen=True)
class TeamFigures:
    """Milliseconds by kind of request (median, 95th percentile; locust keeps two digits), and errors with their number.

    Of an answer, `begin` is the request for its session and `answer` the stream to its end.
    """

    milliseconds: Mapping[str, Sequence[float]]
    requests: int
    errors: Mapping[str, int]


async def at_work(team: Team, url: str, seconds: float) -> TeamFigures:
    """Lets the team work for that long, and until all that has begun has ended."""
    with tempfile.TemporaryDirectory(prefix="attractor-team-") as folder:
        command = [sys.executable, "-m", "locust", "--locustfile", str(LOCUSTFILE), "--headless", "--host", url]
        command += ["--users", str(team.people), "--spawn-rate", str(team.people / team.thinks_seconds)]
        command += ["--run-time", f"{seconds:.0f}s", "--stop-timeout", f"{2 * team.patience_seconds:.0f}s"]
        command += ["--exit-code-on-error", "0", "--only-summary"]
        figures = Path(folder, "figures.json")
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**os.environ, "TEAM": json.dumps(asdict(team)), "TEAM_FIGURES": str(figures)},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            told, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise RuntimeError(f"locust ended with {process.returncode}:\n{told.decode()[-3000:]}")
        return TeamFigures(**json.loads(await asyncio.to_thread(figures.read_text, "utf-8")))
