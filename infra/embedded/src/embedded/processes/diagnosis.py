"""Turns an exit code and the end of a log into one line that says what to do. Pure."""

from __future__ import annotations

import contextlib
import json
import platform
import re
import signal
from pathlib import Path

from embedded.errors import ChildCrashed, EmbeddedError, MissingLibrary, NoEngine, PortLost

_MISSING_LIBRARY = re.compile(
    r"error while loading shared libraries: (?P<glibc>[^:\s]+)"
    r"|Error loading shared library (?P<musl>[^:\s]+)"
    r"|Library not loaded: (?P<macos>\S+)"
)
_FOREIGN_BINARY = re.compile(
    r"cannot execute (?P<path>.+): (?:Exec format error|Bad CPU type|No such file or directory)"
)
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_PORT = re.compile(r"address already in use", re.IGNORECASE)
_LAST_LINE_CHARACTERS = 200


def crash(name: str, code: int, log: Path, tail: str) -> EmbeddedError:
    """Returns the reason for a child's end, as an error to show."""
    if match := _MISSING_LIBRARY.search(tail):
        return MissingLibrary(name, next(group for group in match.groups() if group))
    if match := _FOREIGN_BINARY.search(tail):
        return NoEngine(name, Path(match["path"]).name, f"{platform.system()} {platform.machine()}")
    if _FULL.search(tail):
        return EmbeddedError(
            f"{name} ended because the disk is full: delete something, or set ATTRACTOR_DATA to a folder on "
            f"another disk (log: {log})"
        )
    if _PORT.search(tail):
        return PortLost(name, log)
    return ChildCrashed(name, how_it_ended(code), log, last_line(tail))


def how_it_ended(code: int) -> str:
    """Describes an exit code; subprocess reports a signal as a negative number."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def last_line(tail: str) -> str:
    """Returns the last non-empty line, shortened; only the message of a structured log line."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    line = lines[-1] if lines else ""
    with contextlib.suppress(json.JSONDecodeError):
        if isinstance(entry := json.loads(line), dict) and "message" in entry:
            line = str(entry["message"])
    return line[:_LAST_LINE_CHARACTERS]
