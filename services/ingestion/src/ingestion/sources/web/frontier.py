"""The queue of a crawl: breadth first, limited in depth, avoiding the usual traps."""

from __future__ import annotations

import mimetypes
from collections import Counter, deque
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from ingestion.sources.web.url import repeats_itself, site_of

# More than this is a calendar, a search form or a list in all its sort orders.
MAX_QUERIES_PER_PATH = 20
MAX_WAITING = 100_000
UNREADABLE = ("audio/", "video/", "font/")
ARCHIVES = frozenset(
    {"application/zip", "application/x-tar", "application/java-archive", "application/x-iso9660-image"}
)


class Frontier:
    """`follows` returns whether the configuration lets the crawl request a URL; `site` is as from `site_of`."""

    def __init__(self, site: str, max_depth: int, follows: Callable[[str], bool]) -> None:
        self.site, self.max_depth, self.follows = site, max_depth, follows
        self.known: set[str] = set()
        self.waiting: deque[tuple[str, int]] = deque()
        self.queries: Counter[str] = Counter()

    def seen(self, url: str) -> None:
        """Marks a URL as requested, directly or through a redirect."""
        self.known.add(url)

    def add(self, links: Iterable[str], depth: int) -> None:
        """Adds canonical links of a page; `depth` is their distance from the start."""
        if depth > self.max_depth:
            return
        for url in links:
            if url not in self.known and len(self.waiting) < MAX_WAITING and self._is_wanted(url):
                self.known.add(url)
                self.waiting.append((url, depth))

    def next(self) -> tuple[str, int] | None:
        """Returns the next (URL, depth), or None if nothing is left."""
        return self.waiting.popleft() if self.waiting else None

    def _is_wanted(self, url: str) -> bool:
        if site_of(url) != self.site or repeats_itself(url) or _is_unreadable(url) or not self.follows(url):
            return False
        path, question, _ = url.partition("?")
        self.queries[path] += bool(question)
        return self.queries[path] <= MAX_QUERIES_PER_PATH


def _is_unreadable(url: str) -> bool:
    media_type, encoding = mimetypes.guess_type(urlsplit(url).path)
    return encoding is not None or (media_type or "").startswith(UNREADABLE) or media_type in ARCHIVES
