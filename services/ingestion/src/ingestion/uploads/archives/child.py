"""Reads an archive behind the walls of `service_kit.sandbox`. Imports little, to keep the process small."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import BinaryIO

from ingestion.documents.refusals import Refused
from ingestion.uploads.archives.limits import PIECE_BYTES, ArchiveLimits, ArchiveRefused, Budget
from ingestion.uploads.archives.members import MemberDamaged, UnpackedMember
from ingestion.uploads.archives.protocol import BEGIN, DATA, END, FINISHED, REFUSED, REFUSED_REST, ArchiveAssignment
from ingestion.uploads.archives.tarred import tar_members
from ingestion.uploads.archives.zipped import zip_members
from service_kit.sandbox.usage import OwnMemory

READERS: dict[str, Callable[[BinaryIO, Budget], Iterator[UnpackedMember]]] = {"zip": zip_members, "tar": tar_members}
MEMORY_BYTES = 512 * 1024 * 1024


def serve(messages: Connection, _: OwnMemory) -> None:
    """Receives an `ArchiveAssignment` and the open archive; sends the members as `protocol` describes."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        wanted = ArchiveAssignment(**json.loads(messages.recv_bytes()))
        archive = os.fdopen(recv_handle(messages), "rb")
    except EOFError:
        return
    with archive:
        budget = Budget(ArchiveLimits(**wanted.limits), os.fstat(archive.fileno()).st_size)
        try:
            for member in READERS[wanted.kind](archive, budget):
                _send_member(messages, member, budget)
        except ArchiveRefused as refused:
            _send(messages, REFUSED_REST, {"error": refused.error, "message": refused.message})
        else:
            messages.send_bytes(FINISHED)


def _send_member(messages: Connection, member: UnpackedMember, budget: Budget) -> None:
    content = member.content
    if isinstance(content, Refused):
        _send(messages, REFUSED, {"path": member.path, **asdict(content)})
        return
    _send(messages, BEGIN, {"path": member.path})
    try:
        while piece := content(PIECE_BYTES):
            budget.spend(len(piece))
            messages.send_bytes(DATA + piece)
    except MemberDamaged:
        _send(messages, REFUSED, {"path": member.path, **asdict(MemberDamaged.REFUSAL)})
    else:
        messages.send_bytes(END)


def _send(messages: Connection, kind: bytes, body: dict[str, str]) -> None:
    messages.send_bytes(kind + json.dumps(body).encode())
