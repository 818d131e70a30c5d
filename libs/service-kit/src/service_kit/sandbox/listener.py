"""Starts fork servers for clients in other containers: a Unix socket is the only way into a container without networks.

Only processes of this user may connect. Each connection names what its fork server runs, and is then passed to it.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from service_kit.sandbox.config import SandboxConfig
from service_kit.sandbox.launching import launch
from service_kit.sandbox.messages import Messages

HANDSHAKE_SECONDS, LONGEST_CONFIG = 5.0, 1 << 16
log = logging.getLogger(__name__)


def listen(address: Path, folder: Path) -> None:
    """Serves until this process is asked to end, then ends its fork servers. `folder` holds what conversions write."""
    address.unlink(missing_ok=True)
    servers: list[subprocess.Popen[bytes]] = []
    with socket.socket(socket.AF_UNIX) as listening:
        _bind(listening, address)
        listening.listen()
        try:
            while True:
                connection, _ = listening.accept()
                _reap()
                with connection:
                    if (config := _config(connection, folder)) is not None:
                        servers += _launched(config, connection)
        finally:
            address.unlink(missing_ok=True)
            for server in servers:
                server.terminate()


def _launched(config: SandboxConfig, control: socket.socket) -> list[subprocess.Popen[bytes]]:
    try:
        return [launch(config, control)]
    except OSError as error:  # the client sees its connection close, and retries
        log.error("could not start a fork server", extra={"reason": str(error)})
        return []


def _bind(listening: socket.socket, address: Path) -> None:
    before = os.umask(0o177)
    try:
        listening.bind(str(address))
    finally:
        os.umask(before)


def _reap() -> None:
    """Reaps fork servers that have ended, and orphans that they left to the container's first process."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _config(connection: socket.socket, folder: Path) -> SandboxConfig | None:
    """Returns the client's request; None if it sends none, as health checks do."""
    try:
        written = Messages(connection).receive(HANDSHAKE_SECONDS, LONGEST_CONFIG)
        if written is None:
            return None
        sandbox_config = SandboxConfig(**json.loads(written))
    except EOFError:
        return None
    except (ValueError, TypeError):
        log.warning("invalid request from a client of the converter")
        return None
    connection.setblocking(True)
    return replace(sandbox_config, folder=str(folder), is_apart=True)
