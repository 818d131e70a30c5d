"""HTTP/1.1 under uvicorn with bounds on what a client may send, and how slowly, before it is authenticated."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import httptools
from prometheus_client import Counter
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from service_kit.connections import Connections
from service_kit.problems import MEDIA_TYPE, Problem

LINGER_SECONDS = 1.0
LINGER_BYTES = 256 * 1024


@dataclass(frozen=True)
class HttpBounds:
    """Bytes, counts and seconds. `head` is the request line with all header fields.

    `body_bytes` must arrive in each `body_seconds`, unless the service itself reads slowly; `write_seconds` is how long
    a client may go without reading anything of its response.
    """

    head_bytes: int = 32 * 1024
    fields: int = 100
    head_seconds: float = 10.0
    body_bytes: int = 4 * 1024
    body_seconds: float = 30.0
    write_seconds: float = 60.0


class NotHttp(Problem):
    status, type, title = 400, "not-http", "The request is not valid HTTP"


class RequestLate(Problem):
    status, type, title = 408, "request-timeout", "The request took too long to arrive"


class HeaderTooLarge(Problem):
    status, type, title = 431, "header-too-large", "The header of the request is too large"


class TooManyConnections(Problem):
    status, type, title = 503, "too-many-connections", "Too many connections; try again"


class _Refused(Exception):
    """Aborts the parsing of a request from inside a parser callback."""


class BoundedHttp(HttpToolsProtocol):
    """Counts bytes before the parser, which has no limit of its own, and closes connections that make no progress."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        bounds: HttpBounds,
        admitted: Connections,
        refused: Counter,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.bounds, self.admitted, self.refused = bounds, admitted, refused
        self.head_is_open, self.body_is_open = True, False
        self.unconsumed = 0  # bytes given to the parser since it last reported anything
        self.body_received = 0  # bytes of the body in the current interval
        self.still_read = 0  # bytes received after the refusal
        self.has_begun = self.is_refused = self.is_last = False
        self.receiving: asyncio.TimerHandle | None = None
        self.writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if not self.admitted.admit(self, address):
            self._refuse(TooManyConnections)
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self.admitted.remove(self)
        self._stop_receiving()
        self.resume_writing()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Returns whether no response is under way."""
        return not self._answer_is_under_way()

    def end_with_next(self) -> None:
        """Closes the connection after the response under way or, if there is none, after the next one."""
        self.is_last = True
        if self._answer_is_under_way():
            self.cycle.keep_alive = False

    def make_room(self) -> None:
        """Closes this idle connection in favour of a new one."""
        self._refuse(RequestLate)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if self.is_refused:
            self._discard(len(data))
        else:
            self._read(data)

    def _discard(self, size: int) -> None:
        self.still_read += size
        if self.still_read > LINGER_BYTES:
            self.transport.abort()

    def _read(self, data: bytes) -> None:
        view, at = memoryview(data), 0
        while at < len(view) and not self.is_refused:
            piece = view[at : at + self.bounds.head_bytes - self.unconsumed]
            at += len(piece)
            self.unconsumed += len(piece)
            if not self._parse(bytes(piece)):
                return
            if self.unconsumed >= self.bounds.head_bytes:
                self._refuse(HeaderTooLarge)
        if self.is_refused:
            return
        if self.body_is_open:
            self._await_body()
        elif self.head_is_open and self.unconsumed:
            self._await_head()

    def _parse(self, piece: bytes) -> bool:
        """Returns whether parsing can go on."""
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            self._unsupported_upgrade_warning()
        except httptools.HttpParserError as error:
            if isinstance(error.__context__, _Refused):
                self._refuse(HeaderTooLarge)
            else:
                self._refuse(NotHttp)
            return False
        return True

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.head_is_open = True
        self.unconsumed = max(self.unconsumed, 1)  # it may follow a complete request in the same piece

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.head_is_open:
            return  # a trailer: the request itself has been read
        if len(self.headers) >= self.bounds.fields:
            raise _Refused
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self.is_last:
            self.cycle.keep_alive = False
        self.has_begun, self.head_is_open, self.body_is_open = True, False, True
        self.unconsumed = self.body_received = 0
        self._stop_receiving()
        self.admitted.begins(self)

    def on_body(self, body: bytes) -> None:
        self.unconsumed = 0
        self.body_received += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.unconsumed, self.head_is_open, self.body_is_open = 0, True, False
        self._stop_receiving()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.pipeline:
            self.admitted.waits(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.writing = self.loop.call_later(self.bounds.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self.writing:
            self.writing.cancel()
            self.writing = None
        if self.flow is not None:
            super().resume_writing()

    def _await_head(self) -> None:
        if self.receiving is None:
            self.receiving = self.loop.call_later(self.bounds.head_seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        self.receiving = None
        if self._answer_is_under_way():
            # the rest of a pipelined request: the response to the previous one is the last
            self.cycle.keep_alive = False
            self.flow.pause_reading()
        else:
            self._refuse(RequestLate)

    def _await_body(self) -> None:
        if self.receiving is None:
            self.body_received = 0
            self.receiving = self.loop.call_later(self.bounds.body_seconds, self._look_at_body)

    def _look_at_body(self) -> None:
        self.receiving = None
        held_up = self.flow.read_paused or self.cycle.waiting_for_100_continue
        if held_up or self.body_received >= self.bounds.body_bytes:
            self._await_body()
        elif self.cycle.response_started:
            self.transport.abort()
        else:
            self._refuse(RequestLate)

    def _stop_receiving(self) -> None:
        if self.receiving:
            self.receiving.cancel()
            self.receiving = None

    def _answer_is_under_way(self) -> bool:
        return self.has_begun and not self.cycle.response_complete

    def _may_answer(self) -> bool:
        """Returns whether the client waits for a response although its request has not fully arrived."""
        if not self.has_begun:
            return True
        if self.body_is_open:
            return not self.cycle.response_started
        return self.unconsumed > 0 and self.cycle.response_complete

    def _refuse(self, problem: type[Problem]) -> None:
        """Responds if possible and closes the connection."""
        self._stop_receiving()
        if self.is_refused or self.transport.is_closing():
            return
        self.is_refused = True
        self.refused.labels(problem.type).inc()
        if not self._may_answer():
            self.transport.close()
            return
        self.transport.write(_answer(problem))
        if self._answer_is_under_way():
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if problem is TooManyConnections:
            self.transport.close()
            return
        # if the connection closed at once while the client still sends, the client would not receive the response
        self.transport.write_eof()
        self.receiving = self.loop.call_later(LINGER_SECONDS, self.transport.abort)


def _answer(problem: type[Problem]) -> bytes:
    body = json.dumps({"type": problem.type, "title": problem.title, "status": problem.status}).encode()
    fields = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
    if problem is TooManyConnections:
        fields["retry-after"] = "1"
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return STATUS_LINE[problem.status] + head.encode() + b"\r\n" + body
