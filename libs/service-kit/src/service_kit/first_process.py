"""The first process of a container, which must end when it is asked to, whatever it is doing.

The kernel ignores a signal that this process does not handle. Without a handler, one that still imports or waits for
its schema is killed at the end of its grace period instead.
"""

from __future__ import annotations

import runpy
import signal
import sys
from types import FrameType

TERMINATED = 128 + signal.SIGTERM  # as a shell reports it; not 0, or an interrupted migration would count as done


class Terminated(SystemExit):
    """The process was asked to end by SIGTERM."""


def terminate(_signal: int, _frame: FrameType | None) -> None:
    """Raises Terminated, so that what is open is closed."""
    raise Terminated(TERMINATED)


def run_first() -> None:
    """Runs the module that the first argument names, with the others, as `python -m` does.

    SIGTERM ends it from here on, until it sets a handler of its own.
    """
    signal.signal(signal.SIGTERM, terminate)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
