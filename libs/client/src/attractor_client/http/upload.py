"""The body of an upload, with files as multipart parts, and the results when every file was refused."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from attractor_client.errors import InvalidRequest, NotSendable
from contracts.ingestion import UploadedFile

FileToUpload = Path | tuple[str, bytes | BinaryIO]
"""A file on disk, or a name with bytes or an open binary file that can be rewound."""

REFUSED = TypeAdapter(list[UploadedFile])


def parts_of(files: Sequence[FileToUpload], opened: ExitStack) -> list[tuple[str, tuple[str, Any, str]]]:
    """Returns the parts as httpx2 takes them; the stack closes the files. Raises OSError if a file cannot be read."""
    parts: list[tuple[str, tuple[str, Any, str]]] = []
    for file in files:
        name, content = (file.name, opened.enter_context(file.open("rb"))) if isinstance(file, Path) else file
        body = content if isinstance(content, bytes) else FixedLength(content)
        parts.append(("files", (_sendable(name), body, "application/octet-stream")))
    return parts


def refused(refusal: InvalidRequest) -> list[UploadedFile]:
    """Returns the result of each file, for an upload of which none was accepted; else raises the refusal."""
    try:
        return REFUSED.validate_python(refusal.extra["files"])
    except (KeyError, ValidationError):
        raise refusal from None


class FixedLength:
    """A file at its current length, which the request announces: bytes appended later are not sent.

    Raises NotSendable if the file becomes shorter.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.length = file, file.seek(0, os.SEEK_END)

    def tell(self) -> int:
        return self.file.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.file.seek(self.length + offset if whence == os.SEEK_END else offset)

    def read(self, size: int) -> bytes:
        left = self.length - self.file.tell()
        data = self.file.read(min(size, left))
        if left and not data:
            raise NotSendable("The file could not be sent", "it shrank while it was being read")
        return data


def _sendable(name: str) -> str:
    """Replaces lone surrogates, which stand for bytes of a file name that are not UTF-8 and cannot be sent."""
    return name.encode("utf-8", "replace").decode("utf-8")
