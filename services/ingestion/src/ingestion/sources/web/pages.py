"""Requests pages unless they are unchanged, and keeps their content in the scratch folder until it is fetched."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TypeVar

from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import Fetched, ItemRefused
from ingestion.sources.spool import spooling, too_large
from ingestion.sources.web.client import PageAnswer, Permit, WebClient
from ingestion.sources.web.errors import PageAway
from ingestion.sources.web.fingerprint import Fingerprint, packed, read_fingerprint
from ingestion.sources.web.links import PageFacts, forbids_index, read_page
from ingestion.sources.web.naming import HTML_TYPES, content_name, titled_name
from ingestion.sources.web.url import path_of, site_of

# The most that the scratch folder holds; further pages are requested again when they are fetched.
SCRATCH_BYTES = 512 * 1024 * 1024
RETRY_SECONDS = 1.0
T = TypeVar("T")


@dataclass(frozen=True)
class WebPage:
    """`url` is final. `fingerprint` is None if the content must be compared. `links` lead to the same site.

    `complete` says that all links of the page are known.
    """

    url: str
    name: str
    fingerprint: str | None
    links: tuple[str, ...] = ()
    noindex: bool = False
    size: int | None = None
    complete: bool = True


class Pages:
    """`known` has the fingerprints of the last synchronisation. `keep_links`: links of unchanged pages are needed."""

    def __init__(
        self, client: WebClient, settings: SourceSettings, known: Mapping[str, str], scratch: Path, keep_links: bool
    ) -> None:
        self.client, self.settings, self.scratch, self.keep_links = client, settings, scratch, keep_links
        self.known = {one.url: one for one in map(read_fingerprint, known.values()) if one is not None}
        self.agent = settings.web_user_agent.partition("/")[0]
        self.numbers = count()
        self.spooled: dict[str, tuple[Path, Fetched]] = {}
        self.spooled_bytes = 0

    async def visit(self, url: str, permit: Permit) -> WebPage:
        """Requests a page. Raises PageAway (after a second try), PageGone, ItemRefused."""
        return await self._twice(lambda: self._ask(url, permit))

    def remembered(self, url: str) -> WebPage | None:
        """Returns the last known state of a page that is unavailable; None if the URL is unknown."""
        known = self.known.get(url)
        if known is None:
            return None
        paths = known.link_paths
        links = tuple(site_of(url) + path for path in paths or ())
        return WebPage(url, known.name, known.text(), links, complete=paths is not None or not self.keep_links)

    async def fetch(self, url: str, permit: Permit, target: Path, max_bytes: int) -> Fetched:
        """Returns the content that `visit` kept, or requests it again. Raises PageAway, PageGone, ItemRefused."""
        file, fetched = self.spooled.pop(url, (None, None))
        if file is None or fetched is None:
            return await self._download(url, permit, target, max_bytes)
        self.spooled_bytes -= fetched.size
        if fetched.size > max_bytes:
            file.unlink()
            raise too_large(max_bytes)
        await asyncio.to_thread(shutil.move, file, target)
        return fetched

    def forget(self, url: str) -> None:
        """Deletes the kept content of a page that will not be fetched."""
        if url in self.spooled:
            file, fetched = self.spooled.pop(url)
            self.spooled_bytes -= fetched.size
            file.unlink()

    async def download(self, url: str, permit: Permit, max_bytes: int) -> tuple[str, Path]:
        """Downloads a file that is not a page; returns (final URL, file in the scratch folder). Raises as `visit`."""
        return await self._twice(lambda: self._save(url, permit, max_bytes))

    async def _twice(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except PageAway as error:
            await asyncio.sleep(min(error.retry_after or RETRY_SECONDS, self.settings.web_max_delay_seconds))
            return await ask()

    async def _save(self, url: str, permit: Permit, max_bytes: int) -> tuple[str, Path]:
        async with self.client.get(url, permit, _unconditional) as answer:
            with self._scratch_file() as file:
                await _written(answer, file, max_bytes)
            return answer.url, file

    async def _ask(self, url: str, permit: Permit) -> WebPage:
        async with self.client.get(url, permit, self._conditions) as answer:
            known = self.known.get(answer.url)
            new = _fingerprint(answer)
            if answer.status == 304 or (known and known.conditions and known.conditions == new.conditions):
                return self._unchanged(answer.url)
            if answer.length > self.settings.web_max_page_bytes:
                return _unread(new)
            try:
                with self._scratch_file() as file:
                    size, content_hash = await _written(answer, file, self.settings.web_max_page_bytes)
            except ItemRefused:  # it is larger than announced
                return _unread(new)
        return await self._read(answer, replace(new, content_hash=content_hash), file, size)

    async def _read(self, answer: PageAnswer, new: Fingerprint, file: Path, size: int) -> WebPage:
        new, facts = await self._described(answer, new, file, size)
        links = tuple(link for link in facts.links if site_of(link) == site_of(answer.url))
        self._keep(file, _fetched(answer, new, size), answer.url)
        return WebPage(answer.url, new.name, new.text(), links, facts.noindex, size)

    async def _described(
        self, answer: PageAnswer, new: Fingerprint, file: Path, size: int
    ) -> tuple[Fingerprint, PageFacts]:
        """Adds the page's title as its name and, if links are kept, those to the same site."""
        media_type, charset = answer.content_type
        header = answer.headers.get("x-robots-tag", "")
        facts = PageFacts(None, (), forbids_index(header))
        if media_type not in HTML_TYPES:
            return new, facts
        if size <= self.settings.web_max_page_bytes:
            facts = await asyncio.to_thread(read_page, file, answer.url, charset, self.agent, header)
        new = replace(new, name=titled_name(new.name, facts.title))
        if not self.keep_links:
            return new, facts
        text = packed([path_of(link) for link in facts.links if site_of(link) == site_of(answer.url)])
        if text is None:  # its links do not fit, so the page must be read every time
            return replace(new, etag=None, modified=None), facts
        return replace(new, links=text), facts

    def _keep(self, file: Path, fetched: Fetched, url: str) -> None:
        known = self.known.get(url)
        unchanged = known is not None and known.text() == fetched.fingerprint
        if unchanged or url in self.spooled or self.spooled_bytes + fetched.size > SCRATCH_BYTES:
            file.unlink()
        else:
            self.spooled[url] = (file, fetched)
            self.spooled_bytes += fetched.size

    async def _download(self, url: str, permit: Permit, target: Path, max_bytes: int) -> Fetched:
        async with self.client.get(url, permit, _unconditional) as answer:
            if answer.length > max_bytes:
                raise too_large(max_bytes)
            new = _fingerprint(answer)
            size, content_hash = await _written(answer, target, max_bytes)
        described, _ = await self._described(answer, replace(new, content_hash=content_hash), target, size)
        return _fetched(answer, described, size)

    def _unchanged(self, url: str) -> WebPage:
        page = self.remembered(url)
        if page is None:
            raise PageAway("The server answers 304 Not Modified to a request that has no condition.")
        return page

    def _conditions(self, url: str) -> Mapping[str, str]:
        known = self.known.get(url)
        return known.conditions if known is not None else {}

    @contextmanager
    def _scratch_file(self) -> Iterator[Path]:
        """Yields a file that is kept if it is written completely."""
        file = self.scratch / f"page-{next(self.numbers)}"
        try:
            yield file
        except BaseException:
            file.unlink(missing_ok=True)
            raise


def _fingerprint(answer: PageAnswer) -> Fingerprint:
    """Returns the fingerprint without a content hash. Raises ItemRefused for an unsupported format."""
    media_type, _ = answer.content_type
    name = content_name(answer.url, media_type, answer.headers.get("content-disposition", ""))
    if name is None and answer.status != 304:
        raise ItemRefused("web-type", f"Content of type {media_type or 'unknown'} is not supported.")
    headers = answer.headers
    return Fingerprint(answer.url, name or "", headers.get("etag"), headers.get("last-modified"))


def _fetched(answer: PageAnswer, new: Fingerprint, size: int) -> Fetched:
    return Fetched(new.text(), answer.content_type[0], new.name, new.content_hash or "", size)


def _unread(new: Fingerprint) -> WebPage:
    return WebPage(new.url, new.name, new.text() if new.conditions else None)


async def _written(answer: PageAnswer, target: Path, max_bytes: int) -> tuple[int, str]:
    """Writes the body; returns (size, SHA-256 in hex). The pieces are small enough to write on the event loop."""
    with spooling(target, max_bytes) as spool:
        async for piece in answer.body:
            spool.write(piece)
    return spool.size, spool.content_hash


def _unconditional(url: str) -> Mapping[str, str]:
    del url
    return {}
