"""The main loop of a conversion process, which runs behind walls."""

from __future__ import annotations

import ctypes
import errno
import gc
import json
import logging
import os
import shutil
import sys
import traceback
import warnings
from dataclasses import asdict
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from ingestion.conversion.convert_file import Resources, convert_file
from ingestion.conversion.errors import ConversionError, DiskFull, MemoryLimitExceeded
from ingestion.conversion.jobs import CONVERTED, OUTPUTS, PIECE_BYTES, SETUP, Assignment
from ingestion.conversion.passages import token_budget
from ingestion.conversion.pdf.models import PdfModels
from ingestion.conversion.values import ConversionProgress, Limits
from service_kit.sandbox.usage import OwnMemory

OUTPUT = Path("output")  # relative to the process's own folder, its working directory
LONGEST_TRACE = 8000  # characters
NETWORK_EVENTS = frozenset({"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"})
BURST_BYTES = 1 << 30  # allowed above the resident limit, which the parent checks only a few times a second


def serve(messages: Connection, memory: OwnMemory) -> None:
    """Converts the files it is sent, one at a time, until it is due for recycling or a conversion fails.

    Receives a `Setup`, then `Assignment`s, each followed by an open file. For each it sends JSON objects: `started`,
    any number of `progress`, then either `failed` or, for each output, `output` followed by its bytes, and `converted`.
    """
    from ingestion.conversion.preload import LANGUAGES  # noqa: PLC0415 - loaded in the fork server, which imports us

    try:
        setup = SETUP.validate_json(messages.recv_bytes())
    except EOFError:
        return
    _quieten()
    pdf = PdfModels(setup.pdf, setup.threads)
    resources = Resources(token_budget(setup.chunking), LANGUAGES, pdf)
    recycling = setup.recycling
    for served in range(recycling.conversions):
        if served and (memory.resident_bytes() > recycling.memory_bytes or not messages.poll(recycling.idle_seconds)):
            break
        try:
            job = Assignment.read(messages.recv_bytes())
            source = os.fdopen(recv_handle(messages), "rb")
        except EOFError:
            break
        with source:
            if not _convert(messages, job, source, resources):
                break
        _release_memory()


def _convert(messages: Connection, job: Assignment, source: BinaryIO, resources: Resources) -> bool:
    """Converts one file and sends the result; returns whether it succeeded."""
    _limit(job.limits)
    _send(messages, "started", {})

    def on_progress(progress: ConversionProgress) -> None:
        _send(messages, "progress", asdict(progress))

    try:
        OUTPUT.mkdir()
        converted = convert_file(
            source, job.file_name, UUID(job.document_id), OUTPUT, job.limits, resources, on_progress
        )
        _send_outputs(messages, OUTPUT)
        shutil.rmtree(OUTPUT)
    except ConversionError as error:
        _send_failure(messages, error)
    except MemoryError:
        _send_failure(messages, MemoryLimitExceeded("The conversion needs more memory than allowed."))
    except RecursionError:
        _send_failure(messages, ConversionError("The document is nested too deeply to be read."))
    except Exception as error:  # noqa: BLE001  any error of a reader is the result of this file
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            _send_failure(messages, DiskFull("The worker has no space left for its files."))
            return False
        message = f"The document could not be converted ({type(error).__name__})."
        _send_failure(messages, ConversionError(message), traceback.format_exc()[-LONGEST_TRACE:])
    else:
        _send(messages, "converted", CONVERTED.dump_python(converted, mode="json"))
        return True
    return False


def _send_outputs(messages: Connection, folder: Path) -> None:
    for name in OUTPUTS:
        with (folder / name).open("rb") as file:
            _send(messages, "output", {"name": name, "bytes": os.fstat(file.fileno()).st_size})
            while piece := file.read(PIECE_BYTES):
                messages.send_bytes(piece)


def _send(messages: Connection, kind: str, body: dict[str, Any]) -> None:
    messages.send_bytes(json.dumps({"kind": kind, **body}).encode())


def _send_failure(messages: Connection, error: ConversionError, trace: str | None = None) -> None:
    _send(messages, "failed", {"error_class": error.error_class, "message": str(error), "trace": trace})


def _release_memory() -> None:
    """Returns the last file's memory to the system."""
    gc.collect()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def _quieten() -> None:
    sys.addaudithook(_refuse_network)  # stops libraries in Python even if the machine lacks the other walls
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)  # no one reads this process's log; failures are sent to the worker


def _limit(limits: Limits) -> None:
    """Sets resource limits as a fallback to the parent's watch: for memory bursts, and if the worker is gone.

    They are soft limits, because each file has its own.
    """
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on Windows

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + limits.seconds * (os.cpu_count() or 1)) + 60
    _set_soft(resource.RLIMIT_CPU, seconds)
    _set_soft(resource.RLIMIT_FSIZE, limits.output_bytes)
    if sys.platform == "linux":
        _set_soft(resource.RLIMIT_DATA, 2 * limits.memory_bytes + BURST_BYTES)


def _set_soft(kind: int, limit: int) -> None:
    import resource  # noqa: PLC0415 - not on Windows

    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """Audit hook that refuses connections: no document may make this process open one."""
    if event in NETWORK_EVENTS:
        raise PermissionError(f"a conversion opens no connection ({event}, {len(args)} arguments)")
