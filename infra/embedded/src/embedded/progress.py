"""Progress of the launcher: a spinner and ticks on a terminal, otherwise plain lines with elapsed seconds."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape


class StartProgress:
    """Writes to standard output; errors to standard error. A closed terminal never makes it fail."""

    def __init__(self) -> None:
        self._out = Console(highlight=False, soft_wrap=True)
        self._error = Console(stderr=True, highlight=False, soft_wrap=True)
        # The bootstrap passes its start time, so the seconds count from when the user began to wait.
        self._began = float(os.environ.get("ATTRACTOR_BEGAN") or time.time())

    def say(self, text: str = "") -> None:
        with contextlib.suppress(OSError):
            self._out.print(escape(text))

    def line(self, text: str) -> None:
        """Prints a line of progress, with the seconds since the start."""
        with contextlib.suppress(OSError):
            self._out.print(f"[dim]{self._elapsed()}[/dim] {escape(text)}")

    def warn(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._error.print(f"[yellow]{escape(text)}[/yellow]")

    def error(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._error.print(f"[red]error:[/red] {escape(text)}")

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Prints that a step begins, and when it is done."""
        if self._out.is_terminal:
            with self._out.status(escape(text)):
                yield
        else:
            self.line(f"{text} ...")
            yield
        self.line(f"{text}: done")

    def _elapsed(self) -> str:
        return f"[{time.time() - self._began:6.1f} s]".replace("[", r"\[")


def interactive() -> bool:
    """Returns whether a user is there to answer a question."""
    return sys.stdin.isatty() and sys.stdout.isatty()
