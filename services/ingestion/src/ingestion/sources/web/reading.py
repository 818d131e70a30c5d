"""Lists the pages of a site in the source's mode, with gaps for the parts that could not be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NoReturn

from contracts.sources import WebConfig
from ingestion.sources.selection import Selection
from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import Fetched, Gap, Item, ItemRefused, ItemVanished, SourceUnavailable
from ingestion.sources.web.client import WebClient
from ingestion.sources.web.errors import PageAway, PageGone
from ingestion.sources.web.frontier import Frontier
from ingestion.sources.web.outages import Outages
from ingestion.sources.web.pages import Pages, WebPage
from ingestion.sources.web.robots import Robots
from ingestion.sources.web.sitemap import MAX_BYTES, Sitemap, SitemapDamaged, read_sitemap
from ingestion.sources.web.url import canonical, path_of, pattern_path, site_of
from service_kit.web_connect import Resolve, resolve

MAX_SITEMAPS = 200
# Requests for pages that are not taken (gone, refused, redirects to a known one) also put load on the site.
REQUESTS_PER_PAGE = 3
# A crawl does not report links with these refusals, which are to be expected.
USUAL = frozenset({"web-robots", "web-elsewhere", "web-type"})


@asynccontextmanager
async def web_reader(
    config: WebConfig, settings: SourceSettings, known: Mapping[str, str], scratch: Path, resolve: Resolve = resolve
) -> AsyncIterator[WebReader]:
    """Opens a reader. `resolve` returns the addresses of a host name."""
    client = WebClient(settings, resolve)
    try:
        pages = Pages(client, settings, known, scratch, keep_links=config.mode == "crawl")
        yield WebReader(config, pages, Robots(client, settings), known)
    finally:
        await client.aclose()


class WebReader:
    """Reads a site. The path of a page is that of its configured or listed URL, in a crawl that of its final URL."""

    def __init__(self, config: WebConfig, pages: Pages, robots: Robots, known: Mapping[str, str]) -> None:
        self.config, self.pages, self.robots, self.known = config, pages, robots, known
        self.selection = Selection(config.include, config.exclude)
        self.start = canonical(str(config.url)) or str(config.url)
        self.site: str | None = None
        self.outages = Outages()
        self.listed: set[str] = set()
        self.refused: dict[str, ItemRefused] = {}

    async def items(self) -> AsyncIterator[Item | Gap]:
        """Yields the site's pages; raises SourceUnavailable if the start, or too much of the rest, is unavailable."""
        listing = {"page": self._page, "sitemap": self._sitemap, "crawl": self._crawl}[self.config.mode]
        async for found in listing():
            yield found
        self.outages.judge()

    async def fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched:
        if item.path in self.refused:
            raise self.refused[item.path]
        try:
            return await self.pages.fetch(item.uri or self.start, self._permit, target, max_bytes)
        except PageAway as error:
            raise ItemRefused("web-away", error.message) from error
        except PageGone as error:
            raise ItemVanished from error

    async def _page(self) -> AsyncIterator[Item | Gap]:
        try:
            page = await self.pages.visit(self.start, self._permit)
        except PageGone:
            return
        except (PageAway, ItemRefused) as error:
            _unavailable(error)
        for one in self._taken(path_of(self.start), page):
            yield one

    async def _sitemap(self) -> AsyncIterator[Item | Gap]:
        try:
            first, sitemap = await self._read_sitemap(self.start)
        except (PageAway, PageGone, ItemRefused, SitemapDamaged) as error:
            _unavailable(error)
        self.site = site_of(first)
        waiting = [*sitemap.sitemaps]
        async for one in self._listed_pages(sitemap):
            yield one
        for number, url in enumerate(waiting):
            if self._is_full() or number >= MAX_SITEMAPS:
                return
            try:
                _, sitemap = await self._read_sitemap(url)
            except (PageAway, PageGone, ItemRefused, SitemapDamaged) as error:
                yield Gap("", f"The sitemap {url} cannot be read: {_reason(error)}")
                continue
            async for one in self._listed_pages(sitemap):
                yield one

    async def _listed_pages(self, sitemap: Sitemap) -> AsyncIterator[Item | Gap]:
        for url in sitemap.pages:
            if self._is_full():
                return
            if site_of(url) == self.site and path_of(url) not in self.listed and self._selects(url):
                _, found = await self._visited(url, path_of(url))
                for one in found:
                    yield one

    async def _crawl(self) -> AsyncIterator[Item | Gap]:
        try:
            page = await self.pages.visit(self.start, self._permit)
        except (PageAway, PageGone, ItemRefused) as error:
            _unavailable(error)
        self.site = site_of(page.url)
        frontier = Frontier(self.site, self.config.max_depth, self._follows)
        frontier.seen(page.url)
        for one in self._taken(path_of(page.url), page):
            yield one
        frontier.add(page.links, 1)
        requests = self.config.max_pages * REQUESTS_PER_PAGE
        while (link := frontier.next()) and not self._is_full() and requests > 0:
            requests -= 1
            url, depth = link
            after, listed = await self._visited(url, None)
            for found in listed:
                yield found
            if after is not None:
                frontier.seen(after.url)
                frontier.add(after.links, depth + 1)

    async def _visited(self, url: str, path: str | None) -> tuple[WebPage | None, list[Item | Gap]]:
        """Returns the page, in its last known state if it is unavailable, and what to list for it.

        With `path` None, it is listed under the path of its final URL.
        """
        try:
            page = await self.pages.visit(url, self._permit)
        except PageGone:
            self.outages.answered()
            return None, []
        except PageAway as error:
            self.outages.failed(error.message)
            before = self.pages.remembered(url)
            certain = path is not None or (before is not None and before.complete)
            return before, [Gap(path_of(url) if certain else "", f"{url}: {error.message}")]
        except ItemRefused as error:
            self.outages.answered()
            return self.pages.remembered(url), list(self._refused(url, error))
        self.outages.answered()
        return page, list(self._taken(path or path_of(page.url), page))

    def _taken(self, path: str, page: WebPage) -> Iterator[Item]:
        if path in self.listed:
            return
        if self._selects(page.url) and (self.config.mode == "page" or not page.noindex):
            self.listed.add(path)
            yield Item(path, page.fingerprint, page.url, page.name, page.size)
        else:
            self.pages.forget(page.url)

    def _refused(self, url: str, error: ItemRefused) -> Iterator[Item]:
        path = path_of(url)
        worth_telling = self.config.mode != "crawl" or error.slug not in USUAL or path in self.known
        if worth_telling and path not in self.listed:
            self.listed.add(path)
            self.refused[path] = error
            yield Item(path, None, url, path, None)

    async def _permit(self, url: str) -> None:
        if self.site is not None and site_of(url) != self.site:
            raise ItemRefused("web-elsewhere", f"The page redirects to another site, {site_of(url)}.")
        await self.robots.permit(url)

    async def _read_sitemap(self, url: str) -> tuple[str, Sitemap]:
        """Returns (final URL, content)."""
        final, file = await self.pages.download(url, self._permit, MAX_BYTES)
        try:
            return final, await asyncio.to_thread(read_sitemap, file, final)
        finally:
            file.unlink()

    def _selects(self, url: str) -> bool:
        """Returns whether the patterns select a URL; the root of a site has no path for them to match."""
        path = pattern_path(url)
        return self.selection.selects(path) if path else self.selection.everything

    def _follows(self, url: str) -> bool:
        """Returns whether to read a page for its links; excluded pages are not even requested."""
        return self.selection.enters(pattern_path(url).rstrip("/"))

    def _is_full(self) -> bool:
        return len(self.listed) >= self.config.max_pages


def _reason(error: Exception) -> str:
    return "It is not there (404)." if isinstance(error, PageGone) else str(error)


def _unavailable(error: PageAway | PageGone | ItemRefused | SitemapDamaged) -> NoReturn:
    slug = error.slug if isinstance(error, ItemRefused) else "web-away"
    raise SourceUnavailable(slug, _reason(error)) from error
