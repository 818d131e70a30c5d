"""The web source against a real HTTP server on this machine, which the operator allows."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest

from contracts.sources import WebConfig
from ingestion.sources import web_pages
from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import Fetched, Gap, Item, ItemRefused, ItemVanished, SourceUnavailable
from ingestion.sources.web_address import Address
from ingestion.sources.web_reading import web_reader

MAX_BYTES = 1_000_000
ROBOTS = "/robots.txt"


@dataclass
class Reply:
    """`etag`: answered with 304 when the request names it. `wait` in seconds before anything is sent."""

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
        """The paths asked for since the last look, without robots.txt."""
        found = [path for path, _ in self.requests if path != ROBOTS]
        self.requests.clear()
        return found


def handler(site: Callable[[], Site]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

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


@pytest.fixture
def site() -> Iterator[Site]:
    found: list[Site] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(lambda: found[0]))
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is part of the tests
    found.append(Site(f"http://127.0.0.1:{server.server_address[1]}"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield found[0]
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Sync:
    """What one synchronisation found, as the engine sees it."""

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


@pytest.fixture
def synchronise(site: Site, tmp_path: Path) -> Synchroniser:
    return Synchroniser(site, tmp_path)


async def test_a_page_is_stored_as_it_is_and_asked_for_conditionally(site: Site, synchronise: Synchroniser) -> None:
    site.html("/guide", title="The guide", etag='"1"', headers={"Last-Modified": "Sun, 01 Nov 2026 10:00:00 GMT"})
    page = {"url": f"{site.url}/guide#part", "mode": "page"}
    first = await synchronise(page)
    assert first.content == {"/guide": site.pages["/guide"].body}
    assert first.fetched["/guide"].name == "The guide.html"
    assert first.fetched["/guide"].media_type == "text/html"
    assert first.items["/guide"].uri == f"{site.url}/guide"
    assert site.asked == ["/guide"]
    again = await synchronise(page, first.known)
    assert site.requests[-1][1]["If-None-Match"] == '"1"'
    assert site.requests[-1][1]["If-Modified-Since"] == "Sun, 01 Nov 2026 10:00:00 GMT"
    assert site.requests[-1][1]["User-Agent"].startswith("Attractor/1.0 ")
    assert (again.known, again.fetched) == (first.known, {})
    site.html("/guide", title="The guide", text="changed", etag='"2"')
    assert (await synchronise(page, again.known)).content == {"/guide": site.pages["/guide"].body}


async def test_without_validators_the_content_is_compared(site: Site, synchronise: Synchroniser) -> None:
    site.html("/")
    first = await synchronise({})
    assert (await synchronise({}, first.known)).fetched == {}
    site.html("/", text="changed")
    assert list((await synchronise({}, first.known)).fetched) == ["/"]


async def test_a_page_that_is_gone_is_not_listed_and_one_that_is_away_ends_the_sync(
    site: Site, synchronise: Synchroniser
) -> None:
    assert (await synchronise({})).paths == []
    site.html("/", status=410)
    assert (await synchronise({})).paths == []
    site.html("/", status=503)
    with pytest.raises(SourceUnavailable, match="503 Service Unavailable"):
        await synchronise({})
    assert len(site.asked) == 4  # the last one twice
    site.html("/", status=403)
    with pytest.raises(SourceUnavailable, match="403 Forbidden") as denied:
        await synchronise({})
    assert denied.value.slug == "web-403"


async def test_a_server_that_is_slow_or_not_there_is_away(site: Site, synchronise: Synchroniser) -> None:
    synchronise.settings["web_timeout_seconds"] = 0.1
    site.html("/", wait=0.4)
    with pytest.raises(SourceUnavailable, match="in time"):
        await synchronise({})
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await synchronise({"url": "http://127.0.0.1:9/"})


async def test_redirects_are_followed_and_counted(site: Site, synchronise: Synchroniser) -> None:
    site.html("/end", title="End", etag='"e"')
    for number in range(6):
        target = "/end" if number == 0 else f"/{number - 1}"
        site.pages[f"/{number}"] = Reply(status=302, headers={"Location": target})
    found = await synchronise({"url": f"{site.url}/4"})
    assert found.items["/4"].uri == f"{site.url}/end"
    assert found.fetched["/4"].name == "End.html"
    assert (await synchronise({"url": f"{site.url}/4"}, found.known)).fetched == {}
    with pytest.raises(SourceUnavailable, match="more than 5 times"):
        await synchronise({"url": f"{site.url}/5"})
    site.pages["/5"] = Reply(status=302, headers={"Location": "file:///etc/passwd"})
    with pytest.raises(SourceUnavailable, match="not fetched"):
        await synchronise({"url": f"{site.url}/5"})


async def test_a_redirect_to_an_address_that_is_not_allowed_is_refused(site: Site, synchronise: Synchroniser) -> None:
    site.pages["/meta"] = Reply(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"})
    with pytest.raises(SourceUnavailable, match="public internet"):
        await synchronise({"url": f"{site.url}/meta"})
    synchronise.settings["web_allowed_networks"] = "site.test"
    with pytest.raises(SourceUnavailable, match="public internet"):
        await synchronise({})
    port = site.url.rsplit(":", 1)[1]
    site.pages["/"] = Reply(status=302, headers={"Location": f"{site.url}/secret"})
    site.html("/secret")
    site.requests.clear()
    with pytest.raises(SourceUnavailable, match="public internet"):
        await synchronise({"url": f"http://site.test:{port}/"})
    assert site.asked == ["/"]


async def test_sizes_are_limited_also_of_what_is_compressed(site: Site, synchronise: Synchroniser) -> None:
    synchronise.settings["web_max_page_bytes"] = 10_000
    bomb = gzip.compress(b"0" * 50_000_000)
    site.pages["/"] = Reply(bomb, media_type="text/plain", headers={"Content-Encoding": "gzip"})
    assert (await synchronise({})).refused["/"].slug == "too-large"
    site.pages["/"] = Reply(b"0" * (MAX_BYTES + 1), media_type="text/plain")
    assert (await synchronise({})).refused["/"].slug == "too-large"
    text = gzip.compress(b"some text")
    site.pages["/"] = Reply(text, media_type="text/plain", headers={"Content-Encoding": "gzip"})
    assert (await synchronise({})).content["/"] == b"some text"
    site.pages["/"] = Reply(text[:-12], media_type="text/plain", headers={"Content-Encoding": "gzip"})
    with pytest.raises(SourceUnavailable, match="breaks off"):
        await synchronise({})
    site.pages["/"] = Reply(b"?", media_type="text/plain", headers={"Content-Encoding": "br"})
    with pytest.raises(SourceUnavailable, match="encoded as br"):
        await synchronise({})


async def test_large_content_is_read_once_and_then_only_when_it_changed(site: Site, synchronise: Synchroniser) -> None:
    synchronise.settings["web_max_page_bytes"] = 1000
    site.pages["/a.pdf"] = Reply(b"%PDF-" + b"0" * 5000, media_type="application/pdf", etag='"1"')
    page = {"url": f"{site.url}/a.pdf"}
    first = await synchronise(page)
    assert first.content["/a.pdf"] == site.pages["/a.pdf"].body
    assert (await synchronise(page, first.known)).fetched == {}
    site.pages["/a.pdf"] = Reply(b"%PDF-" + b"1" * 5000, media_type="application/pdf", etag='"2"')
    assert (await synchronise(page, first.known)).content["/a.pdf"] == site.pages["/a.pdf"].body


async def test_unsupported_content_is_refused_by_its_type(site: Site, synchronise: Synchroniser) -> None:
    site.pages["/"] = Reply(b"....", media_type="video/mp4")
    with pytest.raises(SourceUnavailable, match="video/mp4") as refused:
        await synchronise({})
    assert refused.value.slug == "web-type"


async def test_robots_txt_is_obeyed(site: Site, synchronise: Synchroniser) -> None:
    site.html("/", "/a", "/private/b", "/private/open")
    for path in ("/a", "/private/b", "/private/open"):
        site.html(path)
    site.pages[ROBOTS] = Reply(
        b"User-agent: *\nDisallow: /\n\n"
        b"User-agent: attractor\nDisallow: /private/\nAllow: /private/open\nCrawl-delay: 60"
    )
    started = time.monotonic()
    assert (await synchronise({"mode": "crawl"})).paths == ["/", "/a", "/private/open"]
    assert time.monotonic() - started > 0.1  # two pauses, of what the operator allows at most
    assert [path for path, _ in site.requests].count(ROBOTS) == 1
    site.pages[ROBOTS] = Reply(b"User-agent: *\nDisallow: /")
    with pytest.raises(SourceUnavailable, match=r"robots\.txt does not allow"):
        await synchronise({})


@pytest.mark.parametrize(("status", "allowed"), [(403, True), (404, True), (429, False), (500, False)])
async def test_robots_txt_that_cannot_be_read(
    site: Site, synchronise: Synchroniser, status: int, allowed: bool
) -> None:
    site.html("/")
    site.pages[ROBOTS] = Reply(b"User-agent: *\nDisallow: /", status)
    if allowed:
        assert (await synchronise({})).paths == ["/"]
    else:
        with pytest.raises(SourceUnavailable, match=r"robots\.txt cannot be read"):
            await synchronise({})


def sitemap(*urls: str, kind: str = "url") -> bytes:
    root = "urlset" if kind == "url" else "sitemapindex"
    entries = "".join(f"<{kind}><loc>{url}</loc></{kind}>" for url in urls)
    return f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'.encode()


async def test_a_sitemap_with_an_index_and_compression(site: Site, synchronise: Synchroniser) -> None:
    index = sitemap(f"{site.url}/one.xml", f"{site.url}/two.xml.gz", f"{site.url}/none.xml", kind="sitemap")
    site.pages["/sitemap.xml"] = Reply(index, media_type="application/xml")
    one = sitemap(f"{site.url}/a", f"{site.url}/b", "https://other.example/x", f"{site.url}/gone")
    site.pages["/one.xml"] = Reply(one, media_type="application/xml")
    site.pages["/two.xml.gz"] = Reply(gzip.compress(sitemap(f"{site.url}/b", f"{site.url}/c")), media_type=None)
    for path in ("/a", "/b", "/c"):
        site.html(path, "/not-followed", title=path.strip("/").upper(), etag=f'"{path}"')
    config = {"url": f"{site.url}/sitemap.xml", "mode": "sitemap"}
    first = await synchronise(config)
    assert first.paths == ["/a", "/b", "/c"]
    assert [gap.prefix for gap in first.gaps] == [""]  # none.xml: what it listed is not known
    assert site.asked == ["/sitemap.xml", "/one.xml", "/a", "/b", "/gone", "/two.xml.gz", "/c", "/none.xml"]
    again = await synchronise(config, first.known)
    assert (again.fetched, again.known) == ({}, first.known)
    assert (await synchronise({**config, "max_pages": 2})).paths == ["/a", "/b"]
    assert (await synchronise({**config, "exclude": ["b"]})).paths == ["/a", "/c"]


async def test_a_sitemap_that_is_none(site: Site, synchronise: Synchroniser) -> None:
    config = {"mode": "sitemap"}
    for reply in (Reply(b"<html></html>"), Reply(status=404), Reply(status=500)):
        site.pages["/"] = reply
        with pytest.raises(SourceUnavailable):
            await synchronise(config)


def build(site: Site) -> None:
    """/ leads to /a (to /a/deep, to /a/deeper) and /b; the rest must not be taken, or not be followed."""
    site.html("/", "/a", "/b#x", "/b", "/old", '<a rel="nofollow" href="/nofollow">x</a>', "/noindex", etag='"root"')
    site.html("/a", "/", "/a/deep", "http://localhost:1/elsewhere", etag='"a"')
    site.html("/a/deep", "/a/deeper", etag='"deep"')
    site.html("/a/deeper", etag='"deeper"')
    site.html("/b", "/only-by-nofollow", head='<meta name="robots" content="nofollow">', etag='"b"')
    site.html("/noindex", "/by-noindex", head='<meta name="robots" content="noindex">')
    site.html("/by-noindex")
    site.pages["/old"] = Reply(status=301, headers={"Location": "/b"})


CRAWLED = ["/", "/a", "/b", "/a/deep", "/by-noindex", "/a/deeper"]


async def test_a_crawl_goes_breadth_first_and_obeys(site: Site, synchronise: Synchroniser) -> None:
    build(site)
    assert (await synchronise({"mode": "crawl"})).paths == CRAWLED
    assert (await synchronise({"mode": "crawl", "max_depth": 1})).paths == ["/", "/a", "/b"]
    assert (await synchronise({"mode": "crawl", "max_depth": 0})).paths == ["/"]
    assert (await synchronise({"mode": "crawl", "max_pages": 3})).paths == CRAWLED[:3]
    assert (await synchronise({"mode": "crawl", "include": ["a/**"]})).paths == ["/a/deep", "/a/deeper"]
    site.requests.clear()
    assert (await synchronise({"mode": "crawl", "exclude": ["a"]})).paths == ["/", "/b", "/by-noindex"]
    assert "/a" not in site.asked


async def test_an_unchanged_crawl_reads_nothing_and_finds_all(site: Site, synchronise: Synchroniser) -> None:
    build(site)
    first = await synchronise({"mode": "crawl"})
    again = await synchronise({"mode": "crawl"}, first.known)
    assert again.paths == CRAWLED
    assert (again.fetched, again.gaps, again.known) == ({}, [], first.known)
    # A page that is not linked any more, and one that is gone.
    site.html("/a", "/", etag='"a2"')
    del site.pages["/by-noindex"]
    third = await synchronise({"mode": "crawl"}, again.known)
    assert third.paths == ["/", "/a", "/b"]
    assert list(third.fetched) == ["/a"]


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_page_that_is_away_keeps_its_document_and_those_behind_it(
    site: Site, synchronise: Synchroniser, status: int
) -> None:
    build(site)
    first = await synchronise({"mode": "crawl"})
    site.html("/a", status=status)
    again = await synchronise({"mode": "crawl"}, first.known)
    assert [gap.prefix for gap in again.gaps] == ["/a"]
    assert "/a" not in again.paths
    assert "/a/deep" in again.paths  # by the links that are remembered
    assert "/a/deeper" in again.paths


async def test_what_is_behind_a_page_of_unknown_links_is_a_gap(site: Site, synchronise: Synchroniser) -> None:
    build(site)
    site.html("/noindex", status=500)
    found = await synchronise({"mode": "crawl"})
    assert [gap.prefix for gap in found.gaps] == [""]


async def test_a_site_that_fails_often_counts_as_away(site: Site, synchronise: Synchroniser) -> None:
    site.html("/", *(f"/{number}" for number in range(20)))
    for number in range(20):
        site.html(f"/{number}", status=500 if number % 3 == 0 else 200)
    with pytest.raises(SourceUnavailable, match="7 of 20 pages"):
        await synchronise({"mode": "crawl"})
    site.requests.clear()
    for number in range(20):
        site.html(f"/{number}", status=500)
    with pytest.raises(SourceUnavailable, match="5 of 5 pages"):
        await synchronise({"mode": "crawl"})
    assert len(site.asked) == 11


async def test_pages_that_are_refused_say_why(site: Site, synchronise: Synchroniser) -> None:
    site.html("/", "/members", "/film", "/out")
    site.html("/members", status=403)
    site.pages["/film"] = Reply(b"....", media_type="video/mp4")
    site.pages["/out"] = Reply(status=302, headers={"Location": "http://localhost:1/"})
    found = await synchronise({"mode": "crawl"})
    assert found.paths == ["/", "/members"]
    assert found.refused["/members"].slug == "web-403"
    members = {"/out": (await synchronise({"url": f"{site.url}/"})).known["/"]}
    assert (await synchronise({"mode": "crawl"}, members)).refused["/out"].slug == "web-elsewhere"


async def test_the_site_is_where_the_start_redirects_to(site: Site, synchronise: Synchroniser) -> None:
    port = site.url.rsplit(":", 1)[1]
    site.pages["/start"] = Reply(status=302, headers={"Location": f"http://www.site.test:{port}/home"})
    site.html("/home", "/a", f"{site.url}/b")
    site.html("/a")
    found = await synchronise({"url": f"{site.url}/start", "mode": "crawl"})
    assert found.paths == ["/home", "/a"]
    assert found.items["/a"].uri == f"http://www.site.test:{port}/a"


async def test_links_too_many_to_remember_are_read_each_time(
    site: Site, synchronise: Synchroniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_pages, "packed", lambda _: None)
    build(site)
    first = await synchronise({"mode": "crawl"})
    again = await synchronise({"mode": "crawl"}, first.known)
    assert (again.paths, again.fetched) == (CRAWLED, {})
    site.html("/a", status=500)
    assert [gap.prefix for gap in (await synchronise({"mode": "crawl"}, first.known)).gaps] == [""]


async def test_beyond_the_scratch_space_pages_are_read_again(
    site: Site, synchronise: Synchroniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_pages, "SCRATCH_BYTES", 400)
    build(site)
    first = await synchronise({"mode": "crawl"})
    assert sorted(first.content) == sorted(CRAWLED)
    assert (await synchronise({"mode": "crawl"}, first.known)).fetched == {}


async def test_a_page_that_vanishes_between_listing_and_reading(
    site: Site, synchronise: Synchroniser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(web_pages, "SCRATCH_BYTES", 0)
    site.html("/")
    settings = SourceSettings(**synchronise.settings)  # type: ignore[arg-type]
    async with web_reader(WebConfig(url=f"{site.url}/"), settings, {}, tmp_path) as reader:
        (item,) = [one async for one in reader.items()]
        assert isinstance(item, Item)
        del site.pages["/"]
        with pytest.raises(ItemVanished):
            await reader.fetch(item, tmp_path / "target", MAX_BYTES)
        site.html("/", status=500)
        with pytest.raises(ItemRefused, match="500"):
            await reader.fetch(item, tmp_path / "target", MAX_BYTES)
