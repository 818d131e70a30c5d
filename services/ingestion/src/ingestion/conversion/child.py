"""The process of one conversion: forked from the fork server, and never outliving the worker that asked for it."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import signal
import sys
import threading
import warnings
from dataclasses import asdict
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from uuid import UUID

from inference.tokens import load_minilm_tokenizer
from ingestion.conversion.convert_file import convert_file
from ingestion.conversion.errors import ConversionError, MemoryLimitExceeded
from ingestion.conversion.passages import TokenBudget
from ingestion.conversion.values import Limits, Progress

PR_SET_PDEATHSIG = 1
NETWORK_EVENTS = frozenset({"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"})
BURST_BYTES = 1 << 30  # above the resident limit, which the parent checks a few times a second

logger = logging.getLogger(__name__)


def run(
    messages: Connection, source: Path, file_name: str, document_id: UUID, output: Path, limits: Limits, threads: int
) -> None:
    """Converts, and sends JSON objects: any number of `progress`, then one of `converted` and `failed`."""
    _isolate(limits)

    def on_progress(progress: Progress) -> None:
        _send(messages, "progress", asdict(progress))

    try:
        budget = TokenBudget(load_minilm_tokenizer())
        converted = convert_file(source, file_name, document_id, output, limits, budget, threads, on_progress)
    except ConversionError as error:
        _send_failure(messages, error)
    except MemoryError:
        _send_failure(messages, MemoryLimitExceeded("The conversion needs more memory than allowed."))
    except RecursionError:
        _send_failure(messages, ConversionError("The document is nested too deeply to be read."))
    except Exception as error:
        logger.exception("conversion failed")
        _send_failure(messages, ConversionError(f"The document could not be converted ({type(error).__name__})."))
    else:
        _send(messages, "converted", asdict(converted))
    messages.close()
    sys.stderr.flush()
    os._exit(0)  # native thread pools can take seconds to end, and nothing of them is needed any more


def _send(messages: Connection, kind: str, body: dict[str, Any]) -> None:
    messages.send_bytes(json.dumps({"kind": kind, **body}).encode())


def _send_failure(messages: Connection, error: ConversionError) -> None:
    _send(messages, "failed", {"error_class": error.error_class, "message": str(error)})


def _isolate(limits: Limits) -> None:
    os.setsid()  # a group of its own, so that all of it can be killed
    _die_with_parents()
    _limit(limits)
    sys.addaudithook(_refuse_network)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    logging.getLogger("docling").setLevel(logging.CRITICAL)  # failures are reported, and texts do not belong in logs


def _die_with_parents() -> None:
    """With the fork server by a signal from the kernel, with the worker by a thread that waits for its end."""
    if sys.platform == "linux":
        server = os.getppid()
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:
            os._exit(1)
    worker = parent_process()
    if worker is not None:
        threading.Thread(target=_die_after, args=(worker.join,), daemon=True).start()


def _die_after(wait: Any) -> None:
    wait()
    os.killpg(0, signal.SIGKILL)


def _limit(limits: Limits) -> None:
    """Nets below the parent's watch: for bursts of memory, and for a process that its worker left behind."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on Windows

    seconds = int(limits.seconds * (os.cpu_count() or 1)) + 60
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        memory = 2 * limits.memory_bytes + BURST_BYTES
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """No document may make this process open a connection."""
    if event in NETWORK_EVENTS:
        raise PermissionError(f"a conversion opens no connection ({event}, {len(args)} arguments)")
