"""Reading sitemaps."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ingestion.sources.web import sitemap as web_sitemap
from ingestion.sources.web.sitemap import SitemapDamaged, read_sitemap

URL = "https://example.org/sitemap.xml"
SCHEMA = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def written(tmp_path: Path, content: str | bytes) -> Path:
    file = tmp_path / "sitemap"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


PAGES = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {SCHEMA} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <!-- a comment -->
  <url><loc> https://example.org/a </loc><lastmod>2026-01-01</lastmod>
       <image:image><image:loc>https://example.org/a.png</image:loc></image:image></url>
  <url><loc>https://example.org/b?x=1&amp;y=2</loc></url>
  <url><loc>https://example.org/a#again</loc></url>
  <url><loc>ftp://example.org/no</loc></url>
  <url></url>
</urlset>"""


@pytest.mark.parametrize("content", [PAGES.encode(), gzip.compress(PAGES.encode())])
def test_pages_of_a_sitemap_are_read(tmp_path: Path, content: bytes) -> None:
    found = read_sitemap(written(tmp_path, content), URL)
    assert found.pages == ("https://example.org/a", "https://example.org/b?x=1&y=2")
    assert found.sitemaps == ()


def test_a_sitemap_index_is_read(tmp_path: Path) -> None:
    text = f"<sitemapindex {SCHEMA}><sitemap><loc>https://example.org/s1.xml.gz</loc></sitemap></sitemapindex>"
    assert read_sitemap(written(tmp_path, text), URL).sitemaps == ("https://example.org/s1.xml.gz",)


@pytest.mark.parametrize(
    "content", [b"", b"<html><body>no", b"<urlset", b"\x1f\x8bno gzip", b"<html></html>", b"plain"]
)
def test_an_invalid_sitemap_is_reported(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(SitemapDamaged):
        read_sitemap(written(tmp_path, content), URL)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("https://example.org/secret")
    text = f"""<!DOCTYPE urlset [<!ENTITY a SYSTEM "{secret.as_uri()}"><!ENTITY b "https://example.org/b">]>
    <urlset {SCHEMA}><url><loc>&a;</loc></url><url><loc>&b;</loc></url></urlset>"""
    assert read_sitemap(written(tmp_path, text), URL).pages == ()


def test_sizes_and_counts_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_sitemap, "MAX_ENTRIES", 10)
    entries = "".join(f"<url><loc>https://example.org/{number}</loc></url>" for number in range(100))
    text = f"<urlset {SCHEMA}>{entries}</urlset>"
    assert len(read_sitemap(written(tmp_path, text), URL).pages) == 10
    monkeypatch.setattr(web_sitemap, "MAX_ENTRIES", 1000)
    monkeypatch.setattr(web_sitemap, "MAX_BYTES", 1000)
    with pytest.raises(SitemapDamaged, match="larger than"):
        read_sitemap(written(tmp_path, gzip.compress(text.encode())), URL)
