"""Receives the members of an archive from a walled process, and trusts nothing that it sends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from ingestion.documents.incoming_files import IncomingFile
from ingestion.documents.refusals import Refused
from ingestion.uploads.archives.limits import PIECE_BYTES, ArchiveRefused, Unreadable
from ingestion.uploads.archives.naming import LONGEST_PATH, NAMELESS_PATH, member_path
from ingestion.uploads.archives.protocol import BEGIN, DATA, END, FINISHED, REFUSED, REFUSED_REST
from ingestion.uploads.archives.spool import MemberSpool
from service_kit.sandbox import SandboxedProcess

LONGEST_MESSAGE = PIECE_BYTES + 1
LONGEST_REASON = 2000  # characters
# The time that the process may take: a fixed part, and more with the bytes that it delivers.
PATIENCE_SECONDS = 30.0
SLOWEST = 2 * 1024 * 1024  # bytes per second


class Incoming:
    """The members of one archive. Their content goes to `spool`, which counts and hashes it."""

    def __init__(self, process: SandboxedProcess, spool: MemberSpool) -> None:
        self._process, self._spool = process, spool
        self._seconds_left = PATIENCE_SECONDS

    def members(self) -> Iterator[tuple[str, IncomingFile | Refused]]:
        """Yields (path, file or refusal) for each member; raises ArchiveRefused and StorageFull."""
        while True:
            kind, body = self._next()
            if kind == FINISHED:
                return
            line = _object(body)
            self._spool.budget.spend_file()
            if kind == REFUSED:
                yield _shown(line), _refusal(line)
            elif kind == BEGIN:
                yield self._member(line)
            else:
                raise Unreadable("its reader answered with nonsense")

    def _member(self, line: dict[str, Any]) -> tuple[str, IncomingFile | Refused]:
        path = member_path(_text(line, "path"))
        if isinstance(path, Refused):
            raise Unreadable("its reader answered with nonsense")
        self._spool.restart()
        while True:
            kind, body = self._next()
            if kind == DATA:
                self._spool.write(body)
                self._seconds_left += len(body) / SLOWEST
            elif kind == END:
                return path, self._spool.taken(path.rsplit("/", 1)[-1])
            elif kind == REFUSED:
                return path, _refusal(_object(body))
            else:
                raise Unreadable("its reader answered with nonsense")

    def _next(self) -> tuple[bytes, bytes]:
        began = time.monotonic()
        try:
            message = self._process.receive(self._seconds_left, LONGEST_MESSAGE)
        except EOFError:
            raise Unreadable("its reader ended unexpectedly, perhaps for lack of memory") from None
        self._seconds_left -= time.monotonic() - began
        if message is None:
            raise Unreadable("it takes too long")
        kind, body = message[:1], message[1:]
        if kind == REFUSED_REST:
            line = _object(body)
            raise ArchiveRefused(_text(line, "error"), _text(line, "message"))
        return kind, body


def _object(body: bytes) -> dict[str, Any]:
    try:
        line = json.loads(body)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict):
        raise Unreadable("its reader answered with nonsense")
    return line


def _text(line: dict[str, Any], name: str) -> str:
    return str(line.get(name, "")).replace("\x00", "")[:LONGEST_REASON]


def _refusal(line: dict[str, Any]) -> Refused:
    return Refused(_text(line, "error"), _text(line, "message"))


def _shown(line: dict[str, Any]) -> str:
    return _text(line, "path")[:LONGEST_PATH] or NAMELESS_PATH
