"""How a walled process limits itself and replies. Imports little, because each of them loads it."""

from __future__ import annotations

import json
import resource
import sys
from multiprocessing.connection import Connection
from typing import Any

PIECE_BYTES = 1 << 20


class WorkRefused(Exception):
    """The work cannot be done. `reason` is one of the constants of its `limits`, for the parent."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def limit_resources(seconds: float, memory_bytes: int, output_bytes: int) -> None:
    """Sets resource limits as a safety net below the parent's deadline; child programs inherit them."""
    processor_seconds = int(2 * seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (output_bytes, output_bytes))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))


def send_refusal(messages: Connection, reason: str, message: str) -> None:
    _send(messages, {"refused": reason, "message": message})


def send_content(messages: Connection, content: bytes, **about: Any) -> None:
    """Sends what is said about the content and its size, then the content in pieces."""
    _send(messages, {**about, "bytes": len(content)})
    for start in range(0, len(content), PIECE_BYTES):
        messages.send_bytes(content[start : start + PIECE_BYTES])


def _send(messages: Connection, body: dict[str, Any]) -> None:
    messages.send_bytes(json.dumps(body).encode())
