"""What an upload is made of: files as parts of a multipart body, and a refusal as its files."""

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
    """When no file was accepted the answer is a problem that says why for each."""
    try:
        return REFUSED.validate_python(refusal.extra["files"])
    except (KeyError, ValidationError):
        raise refusal from None


class FixedLength:
    """A file as long as it is now, which is the length that the request announces: what it gains is left out.

    Raises NotSendable when it gets shorter.
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
    """Names that are not UTF-8 on disk hold lone surrogates in Python; those cannot be sent."""
    return name.encode("utf-8", "replace").decode("utf-8")
