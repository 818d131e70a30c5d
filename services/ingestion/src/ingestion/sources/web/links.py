"""Reads a page's HTML: its title, its links, and whether robots may index and follow it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree, html

from ingestion.sources.web.url import canonical

MAX_LINKS = 10_000
MAX_TITLE_CHARACTERS = 150


@dataclass(frozen=True)
class PageFacts:
    """`links` are canonical, unique, in order, without those marked nofollow; `noindex` forbids keeping the page."""

    title: str | None
    links: tuple[str, ...]
    noindex: bool


def read_page(file: Path, url: str, charset: str | None, agent: str, header: str) -> PageFacts:
    """Reads a page, blocking; an unreadable one has no facts. `header` is X-Robots-Tag, `agent` our name in rules."""
    try:
        with file.open("rb") as source:
            tree = html.parse(source, _parser(charset)).getroot()
    except etree.XMLSyntaxError:
        tree = None
    if tree is None:
        return PageFacts(None, (), False)
    rules = set(_meta_rules(tree, {"robots", agent.lower()})) | set(_directives(header))
    follow = not rules & {"nofollow", "none"}
    title = " ".join((tree.findtext(".//title") or "").split())[:MAX_TITLE_CHARACTERS]
    links = tuple(dict.fromkeys(_links(tree, url))) if follow else ()
    return PageFacts(title or None, links[:MAX_LINKS], bool(rules & {"noindex", "none"}))


def forbids_index(header: str) -> bool:
    """Returns whether the value of X-Robots-Tag forbids indexing."""
    return not {"noindex", "none"}.isdisjoint(_directives(header))


def _links(tree: html.HtmlElement, url: str) -> Iterator[str]:
    declared = tree.find(".//base[@href]")
    base = (canonical(declared.get("href"), url) if declared is not None else None) or url
    for anchor in tree.iterfind(".//a[@href]"):
        if "nofollow" not in (anchor.get("rel") or "").lower().split():
            link = canonical(anchor.get("href"), base)
            if link is not None:
                yield link


def _meta_rules(tree: html.HtmlElement, names: Collection[str]) -> Iterator[str]:
    for meta in tree.iterfind(".//meta[@name]"):
        if meta.get("name").strip().lower() in names:
            yield from _directives(meta.get("content") or "")


def _directives(text: str) -> Iterator[str]:
    """Splits `noindex, nofollow`; ignores rules for other robots (`otherbot: noindex`)."""
    for part in text.lower().split(","):
        yield part.strip()


def _parser(charset: str | None) -> html.HTMLParser:
    """Builds a parser; without a known charset, the page's own declaration counts."""
    try:
        return html.HTMLParser(encoding=charset)
    except LookupError:
        return html.HTMLParser()
