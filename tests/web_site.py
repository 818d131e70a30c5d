"""A local web site, and synchronisations of it by the real engine."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

from contracts.sources import WebConfig
from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import Fetched, Gap, Item, ItemRefused
from ingestion.sources.web.reading import web_reader
from service_kit.web_address import Address

MAX_BYTES = 1_000_000
ROBOTS = "/robots.txt"


@dataclass
class Reply:
    """A response. `etag`: a request that names it gets a 304. `wait`: seconds before anything is sent."""

    body: bytes = b""
    status: int = 200
    media_type: str | None = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    etag: str | None = None
    wait: float = 0.0


@dataclass
class Site:
    url: str
    pages: dict[str, Reply] = field(default_factory=dict)
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    def html(self, path: str, *links: str, title: str = "", head: str = "", text: str = "", **more: object) -> None:
        anchors = "".join(link if link.startswith("<") else f'<a href="{link}">x</a>' for link in links)
        titled = f"<title>{title}</title>" if title else ""
        body = f"<html><head>{titled}{head}</head><body>{text}{anchors}</body></html>".encode()
        self.pages[path] = Reply(body, **more)  # type: ignore[arg-type]

    @property
    def asked(self) -> list[str]:
        """Returns the paths requested since the last call, except robots.txt."""
        found = [path for path, _ in self.requests if path != ROBOTS]
        self.requests.clear()
        return found


def handler(site: Callable[[], Site]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            site().requests.append((self.path, dict(self.headers.items())))
            reply = site().pages.get(self.path, Reply(b"no such page", 404))
            time.sleep(reply.wait)  # in the server's thread
            unchanged = reply.etag is not None and self.headers.get("If-None-Match") == reply.etag
            self.send_response(304 if unchanged else reply.status)
            headers = {"Content-Length": str(0 if unchanged else len(reply.body)), **reply.headers}
            if reply.media_type:
                headers["Content-Type"] = reply.media_type
            if reply.etag:
                headers["ETag"] = reply.etag
            for name, value in headers.items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            if not unchanged:
                self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None: ...

    return Handler


@contextmanager
def serving() -> Iterator[Site]:
    """Serves a site on a free port of 127.0.0.1."""
    found: list[Site] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(lambda: found[0]))
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is part of the tests
    found.append(Site(f"http://127.0.0.1:{server.server_address[1]}"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield found[0]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Sync:
    """The result of one synchronisation, as the engine sees it."""

    items: dict[str, Item] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    fetched: dict[str, Fetched] = field(default_factory=dict)
    content: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, ItemRefused] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        return list(self.items)


class Synchroniser:
    def __init__(self, site: Site, tmp_path: Path) -> None:
        self.site, self.folder, self.number = site, tmp_path, 0
        self.settings: dict[str, object] = {"web_allowed_networks": "127.0.0.0/8", "web_max_delay_seconds": 0.05}

    async def __call__(self, config: dict[str, object], known: Mapping[str, str] | None = None) -> Sync:
        self.number += 1
        scratch = self.folder / f"scratch-{self.number}"
        scratch.mkdir()
        sync = Sync()
        web = WebConfig.model_validate({"url": f"{self.site.url}/", **config})
        settings = SourceSettings(**self.settings)  # type: ignore[arg-type]
        async with web_reader(web, settings, known or {}, scratch, self.resolve) as reader:
            async for one in reader.items():
                if isinstance(one, Gap):
                    sync.gaps.append(one)
                else:
                    sync.items[one.path] = one
            for path, item in sync.items.items():
                if item.fingerprint and item.fingerprint == (known or {}).get(path):
                    sync.known[path] = item.fingerprint
                    continue
                target = self.folder / "target"
                try:
                    fetched = await reader.fetch(item, target, MAX_BYTES)
                except ItemRefused as error:
                    sync.refused[path] = error
                    continue
                sync.fetched[path], sync.content[path] = fetched, target.read_bytes()
                assert hashlib.sha256(sync.content[path]).hexdigest() == fetched.content_hash
                assert len(sync.content[path]) == fetched.size
                if fetched.fingerprint:
                    sync.known[path] = fetched.fingerprint
        assert list(scratch.iterdir()) == []
        return sync

    async def resolve(self, _host: str, _port: int) -> Sequence[Address]:
        return [ip_address("127.0.0.1")]
