"""Facts read from a page's HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.sources.web.links import PageFacts, forbids_index, read_page

URL = "https://example.org/docs/"


def facts(tmp_path: Path, text: str | bytes, charset: str | None = None, header: str = "") -> PageFacts:
    file = tmp_path / "page"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_page(file, URL, charset, "Attractor", header)


def test_only_links_of_anchors_are_found_in_order_without_duplicates(tmp_path: Path) -> None:
    page = facts(
        tmp_path,
        """<html><head><title> The
        title </title><link href="style.css"></head><body><img src="a.png"><a href="b">b</a><a href="a#x">a</a>
        <a href="a">again</a><a name="n">no</a><a rel="noopener NoFollow" href="secret">s</a><a href="mailto:x@y">m</a>
        <area href="map"><form action="send"></form><a href="https://other.example/">o</a></body></html>""",
    )
    assert page.title == "The title"
    assert page.links == (f"{URL}b", f"{URL}a", "https://other.example/")
    assert not page.noindex


def test_the_base_url_of_the_page_is_used(tmp_path: Path) -> None:
    assert facts(tmp_path, '<base href="/other/"><a href="x">x</a>').links == ("https://example.org/other/x",)


@pytest.mark.parametrize(
    ("meta", "header", "links", "noindex"),
    [
        ('<meta name="robots" content="nofollow">', "", 0, False),
        ('<META NAME="ROBOTS" CONTENT="NoIndex, Follow">', "", 1, True),
        ('<meta name="robots" content="none">', "", 0, True),
        ('<meta name="attractor" content="noindex">', "", 1, True),
        ('<meta name="otherbot" content="none">', "", 1, False),
        ("", "noindex", 1, True),
        ("", "otherbot: noindex", 1, False),
    ],
)
def test_robots_directives_are_read(tmp_path: Path, meta: str, header: str, links: int, noindex: bool) -> None:
    page = facts(tmp_path, f'<head>{meta}</head><a href="x">x</a>', header=header)
    assert (len(page.links), page.noindex) == (links, noindex)


def test_robots_headers_apply_to_files_that_are_not_html() -> None:
    assert forbids_index("NONE")
    assert not forbids_index("")


def test_the_charset_of_the_header_wins_unless_it_is_unknown(tmp_path: Path) -> None:
    text = "<title>Grüße</title>".encode("latin-1")
    assert facts(tmp_path, text, "iso-8859-1").title == "Grüße"
    assert facts(tmp_path, "<meta charset=utf-8><title>Grüße</title>", "no-such-charset").title == "Grüße"


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"<", b"<!-- only a comment -->", b"<div>" * 100_000])
def test_hostile_pages_have_no_links(tmp_path: Path, content: bytes) -> None:
    assert facts(tmp_path, content).links == ()
