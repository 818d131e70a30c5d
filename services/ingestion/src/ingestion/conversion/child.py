"""A process of conversions: forked from the fork server, and never outliving the worker that asked for it."""

from __future__ import annotations

import ctypes
import errno
import gc
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

import psutil

from ingestion.conversion.convert_file import Resources, convert_file
from ingestion.conversion.errors import ConversionError, DiskFull, MemoryLimitExceeded
from ingestion.conversion.jobs import CONVERTED, Job, Setup
from ingestion.conversion.passages import token_budget
from ingestion.conversion.pdf.models import PdfModels
from ingestion.conversion.values import ConversionProgress, Limits

PR_SET_PDEATHSIG = 1
NETWORK_EVENTS = frozenset({"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"})
BURST_BYTES = 1 << 30  # above the resident limit, which the parent checks a few times a second

logger = logging.getLogger(__name__)


def serve(messages: Connection, setup: Setup) -> None:
    """Converts what it is sent, one file after the other, until it is to be recycled or a conversion fails.

    Receives `Job`s; sends JSON objects: for each job `started`, any number of `progress`, then one of `converted` and
    `failed`.
    """
    from ingestion.conversion.preload import LANGUAGES  # noqa: PLC0415 - loaded in the fork server, which imports us

    _isolate()
    pdf = PdfModels(setup.pdf, setup.threads)
    resources = Resources(token_budget(setup.chunking), LANGUAGES, pdf)
    recycling = setup.recycling
    for served in range(recycling.conversions):
        if served and (_resident_bytes() > recycling.memory_bytes or not messages.poll(recycling.idle_seconds)):
            break
        try:
            job = Job.read(messages.recv_bytes())
        except EOFError:
            break
        if not _convert(messages, job, resources):
            break
        _release_memory()
    messages.close()
    sys.stderr.flush()
    os._exit(0)  # native thread pools can take seconds to end, and nothing of them is needed any more


def _convert(messages: Connection, job: Job, resources: Resources) -> bool:
    """Returns whether the file was converted."""
    _limit(job.limits)
    _send(messages, "started", {})

    def on_progress(progress: ConversionProgress) -> None:
        _send(messages, "progress", asdict(progress))

    try:
        converted = convert_file(
            Path(job.source),
            job.file_name,
            UUID(job.document_id),
            Path(job.output),
            job.limits,
            resources,
            on_progress,
        )
    except ConversionError as error:
        _send_failure(messages, error)
    except MemoryError:
        _send_failure(messages, MemoryLimitExceeded("The conversion needs more memory than allowed."))
    except RecursionError:
        _send_failure(messages, ConversionError("The document is nested too deeply to be read."))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            _send_failure(messages, DiskFull("The worker has no space left for its files."))
            return False
        logger.exception("conversion failed")
        _send_failure(messages, ConversionError(f"The document could not be converted ({type(error).__name__})."))
    else:
        _send(messages, "converted", CONVERTED.dump_python(converted, mode="json"))
        return True
    return False


def _send(messages: Connection, kind: str, body: dict[str, Any]) -> None:
    messages.send_bytes(json.dumps({"kind": kind, **body}).encode())


def _send_failure(messages: Connection, error: ConversionError) -> None:
    _send(messages, "failed", {"error_class": error.error_class, "message": str(error)})


def _resident_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


def _release_memory() -> None:
    """Gives back what the last file took, before the next one or the wait for it."""
    gc.collect()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def _isolate() -> None:
    os.setsid()  # a group of its own, so that all of it can be killed
    _die_with_parents()
    sys.addaudithook(_refuse_network)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    logging.getLogger("docling").setLevel(logging.CRITICAL)  # failures are reported, and texts do not belong in logs


def _die_with_parents() -> None:
    """Ends this process with the fork server (by the kernel's signal) and with the worker (by a thread)."""
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
    """Nets below the parent's watch: for bursts of memory, and for a process that its worker left behind.

    Soft limits, as each file has its own.
    """
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on Windows

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + limits.seconds * (os.cpu_count() or 1)) + 60
    _set_soft(resource.RLIMIT_CPU, seconds)
    _set_soft(resource.RLIMIT_CORE, 0)
    if sys.platform == "linux":
        _set_soft(resource.RLIMIT_DATA, 2 * limits.memory_bytes + BURST_BYTES)


def _set_soft(kind: int, limit: int) -> None:
    import resource  # noqa: PLC0415 - not on Windows

    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """Refuses connections: no document may make this process open one."""
    if event in NETWORK_EVENTS:
        raise PermissionError(f"a conversion opens no connection ({event}, {len(args)} arguments)")
