"""Reads sitemaps (sitemaps.org, 0.9): lists of pages, and indexes of such lists."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from gzip import BadGzipFile, GzipFile
from pathlib import Path

from lxml import etree

from ingestion.sources.web.url import canonical

# The limits of the protocol.
MAX_BYTES = 50 * 1024 * 1024
MAX_ENTRIES = 50_000
PIECE_BYTES = 64 * 1024


class SitemapDamaged(Exception):
    """The sitemap cannot be read. The message is a sentence for users."""


@dataclass(frozen=True)
class Sitemap:
    """The unique canonical URLs of a sitemap in order: of pages, or of further sitemaps if it is an index."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]


def read_sitemap(file: Path, url: str) -> Sitemap:
    """Reads a file, blocking; it may be gzipped. Raises SitemapDamaged if it is not a sitemap or beyond MAX_BYTES."""
    pages: dict[str, None] = {}
    sitemaps: dict[str, None] = {}
    try:
        for kind, text in _locations(file):
            location = canonical(text, url)
            if location is not None:
                (sitemaps if kind == "sitemap" else pages)[location] = None
            if len(pages) + len(sitemaps) >= MAX_ENTRIES:
                break
    except (etree.XMLSyntaxError, BadGzipFile, EOFError, zlib.error) as error:
        raise SitemapDamaged(f"The sitemap cannot be read: {str(error)[:200]}.") from error
    return Sitemap(tuple(pages), tuple(sitemaps))


def _locations(file: Path) -> Iterator[tuple[str, str]]:
    """Yields (`url` or `sitemap`, text of its <loc>). Expands no entities and loads nothing else."""
    parser = etree.XMLPullParser(
        events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    root: str | None = None
    for piece in _pieces(file):
        parser.feed(piece)
        for event, element in parser.read_events():
            name = _name(element)
            if root is None:
                root = _checked_root(name)
            elif event == "end" and name in {"url", "sitemap"}:
                yield from ((name, child.text) for child in element if _name(child) == "loc" and child.text)
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    parser.close()


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as raw:
        compressed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        source = GzipFile(fileobj=raw) if compressed else raw
        size = 0
        while piece := source.read(PIECE_BYTES):
            size += len(piece)
            if size > MAX_BYTES:
                raise SitemapDamaged(f"The sitemap is larger than {MAX_BYTES // 1024**2} MiB.")
            yield piece


def _checked_root(name: str) -> str:
    if name not in {"urlset", "sitemapindex"}:
        raise SitemapDamaged(f"This is not a sitemap: it begins with <{name[:50]}>.")
    return name


def _name(element: etree._Element) -> str:
    """Returns the name without its namespace; empty for comments and the like."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""
