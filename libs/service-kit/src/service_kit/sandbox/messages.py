"""Messages from an untrusted process: bounded in length, and never waited for longer than requested."""

from __future__ import annotations

import select
import socket
import struct
import time
from multiprocessing.reduction import sendfds

LENGTH = struct.Struct("!i")  # the format of multiprocessing's Connection, which the other side uses
PIECE_BYTES = 1 << 18
SEND_SECONDS = 10.0


class Messages:
    """This side of the connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.settimeout(SEND_SECONDS)
        self._received = bytearray()

    @property
    def is_silent(self) -> bool:
        """Returns whether the other side is alive and has sent nothing."""
        return not self._received and not self._readable(0)

    def send(self, message: bytes) -> None:
        """Raises OSError."""
        self._socket.sendall(LENGTH.pack(len(message)) + message)

    def send_file(self, descriptor: int) -> None:
        """Raises OSError."""
        sendfds(self._socket, [descriptor])

    def receive(self, seconds: float, most: int) -> bytes | None:
        """Returns the next message; None if none is complete within `seconds`.

        Raises EOFError when the other side has ended or sends more than `most` bytes.
        """
        deadline = time.monotonic() + seconds
        while True:
            if (message := self._complete(most)) is not None:
                return message
            if not self._readable(max(deadline - time.monotonic(), 0)):
                return None
            try:
                data = self._socket.recv(PIECE_BYTES)
            except OSError as error:
                raise EOFError from error
            if not data:
                raise EOFError
            self._received += data

    def close(self) -> None:
        self._socket.close()

    def _complete(self, most: int) -> bytes | None:
        if len(self._received) < LENGTH.size:
            return None
        [length] = LENGTH.unpack_from(self._received)
        if not 0 <= length <= most:
            raise EOFError
        end = LENGTH.size + length
        if len(self._received) < end:
            return None
        message = bytes(self._received[LENGTH.size : end])
        del self._received[:end]
        return message

    def _readable(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
