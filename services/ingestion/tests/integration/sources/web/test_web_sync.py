"""Following a site end to end: API, database and object store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from web_site import Reply, Site

from ingestion.settings import Settings
from service_kit.web_address import allowed_addresses

MakeSource = Callable[..., Awaitable[Any]]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    changes = {"web_allowed_networks": allowed_addresses("127.0.0.0/8"), "web_max_delay_seconds": 0.01}
    return settings.model_copy(update=changes)


def counts(sync: dict[str, Any]) -> dict[str, int]:
    """Returns the counts that are not 0."""
    names = ("seen", "added", "changed", "removed", "unchanged", "refused", "excluded")
    return {name: sync[name] for name in names if sync[name]}


async def test_a_site_is_synchronised_and_an_outage_removes_nothing(
    make_source: MakeSource, client: httpx2.AsyncClient, site: Site
) -> None:
    site.html("/", "/a", "/b", title="Home", etag='"1"')
    site.html("/a", "/a/deep", title="Page A", text="one", etag='"1"')
    site.html("/b", title="Page B", text="two")
    site.html("/a/deep", title="Deep", text="three", etag='"1"')
    source = await make_source(config={"kind": "web", "url": f"{site.url}/", "mode": "crawl"})
    dry = await source.sync(dry_run=True)
    assert counts(dry) == {"seen": 4, "added": 4}
    first = await source.sync()
    assert (first["status"], counts(first)) == ("succeeded", {"seen": 4, "added": 4})
    found = await source.documents()
    assert {path: one["name"] for path, one in found.items()} == {
        "/": "Home.html",
        "/a": "Page A.html",
        "/b": "Page B.html",
        "/a/deep": "Deep.html",
    }
    assert found["/a"]["source_uri"] == f"{site.url}/a"
    original = await client.get(f"/v1/documents/{found['/a']['id']}/original")
    assert original.content == site.pages["/a"].body
    assert counts(await source.sync()) == {"seen": 4, "unchanged": 4}

    site.pages["/a"] = Reply(status=503)
    away = await source.sync()
    assert (away["status"], away["removed"], away["unchanged"]) == ("succeeded", 0, 3)
    assert set(await source.documents()) == set(found)
    site.pages["/"] = Reply(status=503)
    failed = await source.sync()
    assert (failed["status"], failed["error_class"], failed["removed"]) == ("failed", "web-away", 0)
    assert set(await source.documents()) == set(found)

    site.html("/", "/a", title="Home", etag='"2"')
    site.html("/a", "/a/deep", title="Page A", text="changed", etag='"2"')
    site.pages["/a/deep"] = Reply(status=404)
    last = await source.sync()
    assert counts(last) == {"seen": 2, "changed": 2, "removed": 2}
    assert set(await source.documents()) == {"/", "/a"}


async def test_a_source_at_an_internal_address_is_refused(client: httpx2.AsyncClient) -> None:
    for url in ("http://169.254.169.254/", "http://[::ffff:10.0.0.1]/", "http://0x0a000001/"):
        body = {"name": "Inside", "config": {"kind": "web", "url": url}}
        answer = await client.post("/v1/sources", json=body)
        assert (answer.status_code, answer.json()["type"]) == (422, "source-refused")
