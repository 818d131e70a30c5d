"""Single pages, against a real local HTTP server that the settings allow."""

from __future__ import annotations

import gzip

import pytest
from web_site import MAX_BYTES, Reply, Site, Synchroniser

from ingestion.sources.source import SourceUnavailable


async def test_a_page_is_stored_unchanged_and_requested_conditionally(site: Site, synchronise: Synchroniser) -> None:
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


async def test_a_removed_page_is_not_listed_and_an_unreachable_one_ends_the_synchronisation(
    site: Site, synchronise: Synchroniser
) -> None:
    assert (await synchronise({})).paths == []
    site.html("/", status=410)
    assert (await synchronise({})).paths == []
    site.html("/", status=503)
    with pytest.raises(SourceUnavailable, match="503 Service Unavailable"):
        await synchronise({})
    assert len(site.asked) == 4  # the last page twice
    site.html("/", status=403)
    with pytest.raises(SourceUnavailable, match="403 Forbidden") as denied:
        await synchronise({})
    assert denied.value.slug == "web-403"


async def test_a_slow_or_missing_server_counts_as_unreachable(site: Site, synchronise: Synchroniser) -> None:
    synchronise.settings["web_timeout_seconds"] = 0.1
    site.html("/", wait=5)
    with pytest.raises(SourceUnavailable, match="in time"):
        await synchronise({})
    synchronise.settings["web_timeout_seconds"] = 60
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await synchronise({"url": "http://127.0.0.1:9/"})


async def test_redirects_are_followed_up_to_a_limit(site: Site, synchronise: Synchroniser) -> None:
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


async def test_a_redirect_to_a_forbidden_address_is_refused(site: Site, synchronise: Synchroniser) -> None:
    site.pages["/meta"] = Reply(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"})
    with pytest.raises(SourceUnavailable, match="not a public address"):
        await synchronise({"url": f"{site.url}/meta"})
    synchronise.settings["web_allowed_networks"] = "site.test"
    with pytest.raises(SourceUnavailable, match="not a public address"):
        await synchronise({})
    port = site.url.rsplit(":", 1)[1]
    site.pages["/"] = Reply(status=302, headers={"Location": f"{site.url}/secret"})
    site.html("/secret")
    site.requests.clear()
    with pytest.raises(SourceUnavailable, match="not a public address"):
        await synchronise({"url": f"http://site.test:{port}/"})
    assert site.asked == ["/"]


async def test_sizes_are_limited_before_and_after_decompression(site: Site, synchronise: Synchroniser) -> None:
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


async def test_an_interrupted_download_leaves_no_file(site: Site, synchronise: Synchroniser) -> None:
    site.html("/", headers={"Content-Length": "100000", "Connection": "close"})
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await synchronise({})
    assert list(synchronise.folder.rglob("page-*")) == []


async def test_an_unknown_fingerprint_is_ignored(site: Site, synchronise: Synchroniser) -> None:
    site.html("/")
    for text in ('{"strange":1}', "not JSON", "[]"):
        assert list((await synchronise({}, {"/": text})).fetched) == ["/"]


async def test_large_content_is_read_once_and_again_only_after_a_change(site: Site, synchronise: Synchroniser) -> None:
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
