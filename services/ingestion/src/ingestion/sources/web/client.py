"""A bounded HTTP GET: checks the address of every hop, limits redirects and time, and unpacks bodies in pieces."""

from __future__ import annotations

import asyncio
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

import httpcore2

from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import ItemRefused
from ingestion.sources.web.connect import connection_pool
from ingestion.sources.web.errors import PageAway, PageGone, StatusRefused
from ingestion.sources.web.url import canonical, site_of
from service_kit.web_address import AddressRefused
from service_kit.web_connect import Resolve, resolve

MAX_REDIRECTS = 5
PIECE_BYTES = 256 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})
TEMPORARY = frozenset({408, 425, 429})
GZIP = frozenset({"gzip", "x-gzip"})

Permit = Callable[[str], Awaitable[None]]
Headers = Callable[[str], Mapping[str, str]]


@dataclass(frozen=True)
class PageAnswer:
    """The last hop's response, of status 200, 203 or 304. `url` is final and canonical, header names are lower case.

    `body` yields decompressed pieces of at most PIECE_BYTES; it raises PageAway if it breaks off.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]

    @property
    def content_type(self) -> tuple[str | None, str | None]:
        """The media type in lower case and the charset; None if not given."""
        value = self.headers.get("content-type", "")
        charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", value, re.IGNORECASE)
        return value.partition(";")[0].strip().lower() or None, charset[1] if charset else None

    @property
    def length(self) -> int:
        """The announced length of the encoded body in bytes; 0 without one."""
        announced = self.headers.get("content-length", "")
        return int(announced) if announced.isdigit() else 0


class WebClient:
    """Sends no cookies, reads no proxy from the environment, and follows only redirects that `permit` allows."""

    def __init__(self, settings: SourceSettings, resolve: Resolve = resolve) -> None:
        self.settings = settings
        self.pool = connection_pool(settings, resolve)

    async def aclose(self) -> None:
        await self.pool.aclose()

    @asynccontextmanager
    async def get(self, url: str, permit: Permit, headers: Headers) -> AsyncIterator[PageAnswer]:
        """Requests a page. Awaits `permit` before each hop and adds the request headers that `headers` returns for it.

        Raises PageAway, PageGone or ItemRefused, also while the body is being read.
        """
        with _network_errors():
            async with asyncio.timeout(self.settings.web_download_seconds):
                for _ in range(MAX_REDIRECTS + 1):
                    self.settings.web_allowed_networks.check_url(url, self.settings.web_proxy is not None)
                    await permit(url)
                    async with self._request(url, headers(url)) as response:
                        target = _redirect(url, response)
                        if target is None:
                            yield _answer(url, response)
                            return
                        url = target
                raise ItemRefused("web-redirects", f"The page redirects more than {MAX_REDIRECTS} times.")

    @asynccontextmanager
    async def _request(self, url: str, extra: Mapping[str, str]) -> AsyncIterator[httpcore2.Response]:
        headers = {
            "Host": url.split("/")[2],  # with the brackets of an IPv6 address, which httpcore2 omits
            "User-Agent": self.settings.web_user_agent,
            "Accept": "*/*",
            "Accept-Encoding": "gzip",
            **extra,
        }
        seconds = self.settings.web_timeout_seconds
        timeout = {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        async with self.pool.stream("GET", url, headers=encoded, extensions={"timeout": timeout}) as response:
            yield response


class _network_errors:
    """Converts errors of httpcore2 to ItemRefused and PageAway."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        match error:
            case AddressRefused():
                raise ItemRefused("web-address", str(error)) from error
            case TimeoutError() | httpcore2.TimeoutException():
                raise PageAway("The server does not answer in time.") from error
            case httpcore2.NetworkError() | httpcore2.ProtocolError() | httpcore2.ProxyError() | ssl.SSLError():
                raise PageAway(f"The server cannot be reached ({str(error)[:200] or type(error).__name__}).") from error


def _redirect(url: str, response: httpcore2.Response) -> str | None:
    """Returns the target of a redirect; None if the response is not one. Raises ItemRefused."""
    if response.status not in REDIRECTS:
        return None
    location = _headers(response).get("location", "")
    target = canonical(location.encode("latin-1").decode("utf-8", errors="replace"), url) if location else None
    if target is None:
        raise ItemRefused("web-address", f"{site_of(url)} redirects to something that is not fetched.")
    return target


def _answer(url: str, response: httpcore2.Response) -> PageAnswer:
    headers, status = _headers(response), response.status
    if status in {404, 410}:
        raise PageGone(url)
    if status >= 500 or status in TEMPORARY:
        wait = headers.get("retry-after", "")
        raise PageAway(
            f"The server answers {_phrase(status)}.", float(wait) if re.fullmatch(r"\d{1,6}", wait) else None
        )
    if status not in {200, 203, 304}:
        raise StatusRefused(status, _phrase(status))
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in GZIP | {"", "identity"}:
        raise ItemRefused("web-encoding", f"The content is encoded as {encoding[:50]}, which was not asked for.")
    pieces = response.aiter_stream()
    return PageAnswer(url, status, headers, inflated(pieces) if encoding in GZIP else pieces)


async def inflated(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Decompresses gzip into pieces of at most PIECE_BYTES, no matter how far the input expands."""
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        async for piece in pieces:
            data = piece
            while data:
                yield decoder.decompress(data, PIECE_BYTES)
                data = decoder.unconsumed_tail
    except zlib.error as error:
        raise PageAway("The compressed content is damaged.") from error
    if not decoder.eof:
        raise PageAway("The compressed content breaks off.")


def _headers(response: httpcore2.Response) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in response.headers:
        key = name.decode("latin-1").lower()
        found[key] = f"{found[key]}, {value.decode('latin-1')}" if key in found else value.decode("latin-1")
    return found


def _phrase(status: int) -> str:
    return f"{status} {HTTPStatus(status).phrase}" if status in HTTPStatus._value2member_map_ else str(status)
