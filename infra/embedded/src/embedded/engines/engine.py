"""What the three engines have in common: start, await, stop."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod

from embedded.errors import EmbeddedError, NotReady
from embedded.processes.child import Child, Command

_POLL_SECONDS = 0.02
READY_SECONDS = 60.0


class Engine(ABC):
    """A server from a wheel. `launch` returns at once, so several can start in parallel; `wait_ready` waits for it."""

    name: str

    def __init__(self) -> None:
        self.child: Child | None = None

    @abstractmethod
    def command(self) -> Command:
        """Returns the command to run. Called once per start."""

    @abstractmethod
    def probe(self) -> str | None:
        """Connects as a client would; returns None on success, otherwise the reason.

        Raises EmbeddedError if waiting longer is pointless.
        """

    def prepare(self) -> None:  # noqa: B027  (most have nothing to do)
        """Prepares the files needed before the start. Idempotent, and safe to interrupt at any moment."""

    def settle(self) -> None:  # noqa: B027  (most have nothing to do)
        """Prepares the running server after its first response. Idempotent."""

    def launch(self) -> Child:
        """Starts the process and returns without waiting for it."""
        self.prepare()
        self.child = Child(self.command())
        return self.child

    def wait_ready(self, seconds: float = READY_SECONDS) -> None:
        """Waits until clients can use the server.

        Raises EmbeddedError at once when the process dies, and NotReady after `seconds`.
        """
        deadline = time.monotonic() + seconds
        while (why := self.probe()) is not None:
            self._check_alive()
            if time.monotonic() > deadline:
                raise NotReady(self.name, seconds, why, self._living().command.log)
            time.sleep(_POLL_SECONDS)  # a client is not notified when a server begins to listen
        self._check_alive()
        self.settle()

    def stop(self) -> None:
        """Stops the process and waits for it; does nothing if there is none."""
        if self.child:
            self.child.stop()
            self.child = None

    def _living(self) -> Child:
        if self.child is None:
            raise EmbeddedError(f"{self.name} was not started")
        return self.child

    def _check_alive(self) -> None:
        if (crash := self._living().crash()) is not None:
            raise crash


def plain_environment() -> dict[str, str]:
    """Returns the environment of an engine, without the user's own settings (PGDATA, AWS_PROFILE and the like)."""
    kept = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "TZ")
    return {"LC_ALL": "C", **{name: os.environ[name] for name in kept if name in os.environ}}
