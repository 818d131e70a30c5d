"""The order and limits of a crawl, and when a site counts as unavailable."""

from __future__ import annotations

import pytest

from ingestion.sources.source import SourceUnavailable
from ingestion.sources.web.fingerprint import Fingerprint, packed, read_fingerprint
from ingestion.sources.web.frontier import MAX_QUERIES_PER_PATH, Frontier
from ingestion.sources.web.outages import Outages

SITE = "https://example.org"


def drained(frontier: Frontier) -> list[tuple[str, int]]:
    found = []
    while one := frontier.next():
        found.append(one)
    return found


def test_a_crawl_is_breadth_first_within_depth_and_site() -> None:
    frontier = Frontier(SITE, 2, lambda url: "private" not in url)
    frontier.seen(f"{SITE}/")
    links = [
        f"{SITE}/",
        f"{SITE}/a",
        f"{SITE}/b",
        f"{SITE}/a",
        f"{SITE}/private/x",
        "http://example.org/a",
        f"{SITE}:8443/a",
    ]
    frontier.add(links, 1)
    frontier.add([f"{SITE}/c"], 2)
    frontier.add([f"{SITE}/d"], 3)
    assert drained(frontier) == [(f"{SITE}/a", 1), (f"{SITE}/b", 1), (f"{SITE}/c", 2)]


def test_crawler_traps_are_bounded() -> None:
    frontier = Frontier(SITE, 100, lambda _: True)
    frontier.add([f"{SITE}/calendar?day={day}" for day in range(1000)], 1)
    frontier.add([f"{SITE}" + "/a/b" * number for number in range(1, 100)], 1)
    assert len(drained(frontier)) == MAX_QUERIES_PER_PATH + 3


def test_links_to_unsupported_files_are_not_requested() -> None:
    frontier = Frontier(SITE, 1, lambda _: True)
    names = ["film.mp4", "all.zip", "all.tar.gz", "sound.mp3", "page.aspx", "v1.2", "paper.pdf", "picture.png"]
    frontier.add([f"{SITE}/{name}" for name in names], 1)
    assert [url.rsplit("/", 1)[1] for url, _ in drained(frontier)] == ["page.aspx", "v1.2", "paper.pdf", "picture.png"]


def test_a_few_failures_are_tolerated_and_many_count_as_an_outage() -> None:
    few = Outages()
    for number in range(20):
        few.failed("slow") if number in {3, 9} else few.answered()
    few.judge()
    share = Outages()
    for number in range(9):
        share.failed("slow") if number % 3 == 0 else share.answered()
    with pytest.raises(SourceUnavailable, match="3 of 9 pages"):
        share.judge()
    row = Outages()
    for _ in range(4):
        row.failed("slow")
    with pytest.raises(SourceUnavailable, match="5 of 5"):
        row.failed("slow")


def test_a_fingerprint_survives_storage() -> None:
    fingerprint = Fingerprint(f"{SITE}/ü", "a.html", '"x\\"', None, "0" * 64, packed(["/a?b=1", "/c"]))
    again = read_fingerprint(fingerprint.text())
    assert again == fingerprint
    assert again is not None
    assert again.link_paths == ("/a?b=1", "/c")
    assert again.conditions == {"If-None-Match": '"x\\"'}
    assert Fingerprint(SITE, "a").link_paths is None
    assert Fingerprint(SITE, "a", links=packed([])).link_paths == ()
    assert packed([f"/{number * 7919}" for number in range(10_000)]) is None
