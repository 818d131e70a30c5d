"""Selects the headers that pass the gateway in each direction. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

Headers = list[tuple[bytes, bytes]]

# RFC 9110, section 7.6.1, and headers that older agents send
HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"}
    | {b"trailer", b"transfer-encoding", b"upgrade"}
)
# The caller's credentials stay here; headers about the caller and the trace are set by the gateway
NOT_FORWARDED = frozenset(
    {b"authorization", b"cookie", b"expect", b"forwarded", b"host", b"traceparent", b"tracestate", b"x-real-ip"}
    | {b"x-workspace-id"}
)
# The server that writes the answer sets its own; cookies are the gateway's alone
NOT_RETURNED = frozenset({b"date", b"server", b"set-cookie"})


def _end_to_end(headers: Iterable[tuple[bytes, bytes]], dropped: frozenset[bytes]) -> Headers:
    kept = [(name.lower(), value) for name, value in headers]
    named = {token.strip().lower() for name, value in kept if name == b"connection" for token in value.split(b",")}
    return [(name, value) for name, value in kept if name not in HOP_BY_HOP | dropped | named]


def for_service(headers: Iterable[tuple[bytes, bytes]], own: dict[str, str]) -> Headers:
    """Returns the caller's headers that are meant for the service, followed by `own`."""
    passed = [pair for pair in _end_to_end(headers, NOT_FORWARDED) if not pair[0].startswith(b"x-forwarded-")]
    return passed + [(name.lower().encode(), value.encode("latin-1")) for name, value in own.items()]


def for_caller(headers: Iterable[tuple[bytes, bytes]], base_url: str) -> Headers:
    """Returns the service's headers, in which redirects to its own address become redirects to the same path here."""
    return [
        (name, _public_location(value, base_url) if name == b"location" else value)
        for name, value in _end_to_end(headers, NOT_RETURNED)
    ]


def _public_location(location: bytes, base_url: str) -> bytes:
    target, service = urlsplit(location.decode("latin-1")), urlsplit(base_url)
    if target.netloc != service.netloc:
        return location
    return target._replace(scheme="", netloc="").geturl().encode("latin-1")
