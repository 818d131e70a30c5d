"""Sitemaps and crawls, against a real local HTTP server that the settings allow."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest
from web_site import MAX_BYTES, ROBOTS, Reply, Site, Synchroniser

from contracts.sources import WebConfig
from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import Item, ItemRefused, ItemVanished, SourceUnavailable
from ingestion.sources.web import pages as web_pages
from ingestion.sources.web.reading import web_reader


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
    assert time.monotonic() - started > 0.1  # two pauses of the maximum that the operator allows
    assert [path for path, _ in site.requests].count(ROBOTS) == 1
    site.pages[ROBOTS] = Reply(b"User-agent: *\nDisallow: /")
    with pytest.raises(SourceUnavailable, match=r"robots\.txt does not allow"):
        await synchronise({})


@pytest.mark.parametrize(("status", "allowed"), [(403, True), (404, True), (429, False), (500, False)])
async def test_an_unreadable_robots_txt_is_handled_by_its_status(
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


async def test_a_compressed_sitemap_index_is_read(site: Site, synchronise: Synchroniser) -> None:
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
    assert [gap.prefix for gap in first.gaps] == [""]  # the entries of none.xml are unknown
    assert site.asked == ["/sitemap.xml", "/one.xml", "/a", "/b", "/gone", "/two.xml.gz", "/c", "/none.xml"]
    again = await synchronise(config, first.known)
    assert (again.fetched, again.known) == ({}, first.known)
    assert (await synchronise({**config, "max_pages": 2})).paths == ["/a", "/b"]
    assert (await synchronise({**config, "exclude": ["b"]})).paths == ["/a", "/c"]


async def test_an_invalid_sitemap_is_reported(site: Site, synchronise: Synchroniser) -> None:
    config = {"mode": "sitemap"}
    for reply in (Reply(b"<html></html>"), Reply(status=404), Reply(status=500)):
        site.pages["/"] = reply
        with pytest.raises(SourceUnavailable):
            await synchronise(config)


def build(site: Site) -> None:
    """Builds a site: / links to /a (to /a/deep, to /a/deeper) and /b; other pages must not be taken or followed."""
    site.html("/", "/a", "/b#x", "/b", "/old", '<a rel="nofollow" href="/nofollow">x</a>', "/noindex", etag='"root"')
    site.html("/a", "/", "/a/deep", "http://localhost:1/elsewhere", etag='"a"')
    site.html("/a/deep", "/a/deeper", etag='"deep"')
    site.html("/a/deeper", etag='"deeper"')
    site.html("/b", "/only-by-nofollow", head='<meta name="robots" content="nofollow">', etag='"b"')
    site.html("/noindex", "/by-noindex", head='<meta name="robots" content="noindex">')
    site.html("/by-noindex")
    site.pages["/old"] = Reply(status=301, headers={"Location": "/b"})


CRAWLED = ["/", "/a", "/b", "/a/deep", "/by-noindex", "/a/deeper"]


async def test_a_crawl_is_breadth_first_and_obeys_robots(site: Site, synchronise: Synchroniser) -> None:
    build(site)
    assert (await synchronise({"mode": "crawl"})).paths == CRAWLED
    assert (await synchronise({"mode": "crawl", "max_depth": 1})).paths == ["/", "/a", "/b"]
    assert (await synchronise({"mode": "crawl", "max_depth": 0})).paths == ["/"]
    assert (await synchronise({"mode": "crawl", "max_pages": 3})).paths == CRAWLED[:3]
    assert (await synchronise({"mode": "crawl", "include": ["a/**"]})).paths == ["/a/deep", "/a/deeper"]
    site.requests.clear()
    assert (await synchronise({"mode": "crawl", "exclude": ["a"]})).paths == ["/", "/b", "/by-noindex"]
    assert "/a" not in site.asked


async def test_an_unchanged_site_is_crawled_without_reading_pages(site: Site, synchronise: Synchroniser) -> None:
    build(site)
    first = await synchronise({"mode": "crawl"})
    again = await synchronise({"mode": "crawl"}, first.known)
    assert again.paths == CRAWLED
    assert (again.fetched, again.gaps, again.known) == ({}, [], first.known)
    # One page is no longer linked, and one is gone.
    site.html("/a", "/", etag='"a2"')
    del site.pages["/by-noindex"]
    third = await synchronise({"mode": "crawl"}, again.known)
    assert third.paths == ["/", "/a", "/b"]
    assert list(third.fetched) == ["/a"]


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_an_unreachable_page_keeps_its_document_and_those_linked_from_it(
    site: Site, synchronise: Synchroniser, status: int
) -> None:
    build(site)
    first = await synchronise({"mode": "crawl"})
    site.html("/a", status=status)
    again = await synchronise({"mode": "crawl"}, first.known)
    assert [gap.prefix for gap in again.gaps] == ["/a"]
    assert "/a" not in again.paths
    assert "/a/deep" in again.paths  # found by remembered links
    assert "/a/deeper" in again.paths


async def test_pages_behind_an_unreadable_page_count_as_unknown(site: Site, synchronise: Synchroniser) -> None:
    build(site)
    site.html("/noindex", status=500)
    found = await synchronise({"mode": "crawl"})
    assert [gap.prefix for gap in found.gaps] == [""]


async def test_a_site_that_fails_often_counts_as_unreachable(site: Site, synchronise: Synchroniser) -> None:
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


async def test_refused_pages_are_reported_with_the_reason(site: Site, synchronise: Synchroniser) -> None:
    site.html("/", "/members", "/film", "/out")
    site.html("/members", status=403)
    site.pages["/film"] = Reply(b"....", media_type="video/mp4")
    site.pages["/out"] = Reply(status=302, headers={"Location": "http://localhost:1/"})
    found = await synchronise({"mode": "crawl"})
    assert found.paths == ["/", "/members"]
    assert found.refused["/members"].slug == "web-403"
    members = {"/out": (await synchronise({"url": f"{site.url}/"})).known["/"]}
    assert (await synchronise({"mode": "crawl"}, members)).refused["/out"].slug == "web-elsewhere"


async def test_the_site_is_the_redirect_target_of_the_start_page(site: Site, synchronise: Synchroniser) -> None:
    port = site.url.rsplit(":", 1)[1]
    site.pages["/start"] = Reply(status=302, headers={"Location": f"http://www.site.test:{port}/home"})
    site.html("/home", "/a", f"{site.url}/b")
    site.html("/a")
    found = await synchronise({"url": f"{site.url}/start", "mode": "crawl"})
    assert found.paths == ["/home", "/a"]
    assert found.items["/a"].uri == f"http://www.site.test:{port}/a"


async def test_pages_with_too_many_links_to_remember_are_requested_again(
    site: Site, synchronise: Synchroniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_pages, "packed", lambda _: None)
    build(site)
    first = await synchronise({"mode": "crawl"})
    again = await synchronise({"mode": "crawl"}, first.known)
    assert (again.paths, again.fetched) == (CRAWLED, {})
    site.html("/a", status=500)
    assert [gap.prefix for gap in (await synchronise({"mode": "crawl"}, first.known)).gaps] == [""]


async def test_pages_beyond_the_scratch_space_are_fetched_again(
    site: Site, synchronise: Synchroniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_pages, "SCRATCH_BYTES", 400)
    build(site)
    first = await synchronise({"mode": "crawl"})
    assert sorted(first.content) == sorted(CRAWLED)
    assert (await synchronise({"mode": "crawl"}, first.known)).fetched == {}


async def test_a_page_that_disappears_between_listing_and_reading_is_handled(
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
