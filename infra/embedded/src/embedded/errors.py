"""Errors of the launcher; the message of each is the one line that the user sees."""

from __future__ import annotations

from pathlib import Path

COMPOSE = "run it with Docker instead: docker compose up --build --wait"


class EmbeddedError(Exception):
    """Base class; the message is one line that says what to do."""


class NothingToBackUp(EmbeddedError):
    """The data folder holds no installation."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} contains no Attractor data: there is nothing to back up")


class RestoreUnfinished(EmbeddedError):
    """A restore was interrupted, and the data is incomplete."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"a restore into {folder} did not end: delete it with make reset, then restore again")


class PortInUse(EmbeddedError):
    """A configured port is in use."""

    def __init__(self, port: int, setting: str) -> None:
        super().__init__(
            f"port {port} is in use by another program: stop that program, or set {setting} to a free port"
        )


class PortLost(EmbeddedError):
    """Another program took the port between its choice and the start."""

    def __init__(self, child: str, log: Path) -> None:
        super().__init__(f"{child} ended because its port is in use by another program: start again (log: {log})")


class AlreadyRunning(EmbeddedError):
    """The data folder is locked by a living process."""

    def __init__(self, folder: Path, pid: int | None, url: str | None) -> None:
        process = f" (process {pid})" if pid else ""
        place = f" at {url}" if url else ""
        super().__init__(f"Attractor already runs{place}{process} on {folder}: use it, or end it with: make stop")


class DataFolderFull(EmbeddedError):
    """The disk is full."""

    def __init__(self, folder: Path, free_mb: int, needed_mb: int) -> None:
        super().__init__(
            f"the disk of {folder} is full: {free_mb} MB are free, {needed_mb} MB are needed; "
            "delete something, or set ATTRACTOR_DATA to a folder on another disk"
        )


class MissingLibrary(EmbeddedError):
    """A binary cannot be loaded."""

    def __init__(self, child: str, library: str) -> None:
        super().__init__(
            f"{child} cannot start: the system library {library} is missing; "
            f"install it with the system's package manager, or {COMPOSE}"
        )


class NoEngine(EmbeddedError):
    """The wheel of an engine is not installed, or not available for this platform."""

    def __init__(self, child: str, package: str, platform: str) -> None:
        super().__init__(f"{child} has no working wheel ({package}) for this platform ({platform}): {COMPOSE}")


class ChildCrashed(EmbeddedError):
    """A process ended unexpectedly."""

    def __init__(self, child: str, how: str, log: Path, last_line: str) -> None:
        quoted = f': "{last_line}"' if last_line else ""
        super().__init__(f"{child} ended with {how}{quoted} (log: {log})")


class NotReady(EmbeddedError):
    """A process is running but did not become ready in time."""

    def __init__(self, child: str, seconds: float, why: str, log: Path) -> None:
        super().__init__(f"{child} did not become ready in {seconds:.0f} s: {why} (log: {log})")


class MigrationFailed(EmbeddedError):
    """A service's schema could not be brought up to date."""

    def __init__(self, service: str, why: Exception) -> None:
        super().__init__(f"the migration of {service} failed: {next(iter(str(why).splitlines()), type(why).__name__)}")


class WrongPassword(EmbeddedError):
    """The stored secrets do not match the stored data."""

    def __init__(self, child: str, secrets: Path) -> None:
        super().__init__(
            f"{child} refuses the password in {secrets}: restore that file, or delete all data with: make reset"
        )
