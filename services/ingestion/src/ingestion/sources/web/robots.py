"""Follows the rules of robots.txt (RFC 9309) and the crawl delay of a site."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from protego import Protego

from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import ItemRefused
from ingestion.sources.web.client import WebClient
from ingestion.sources.web.errors import PageAway, PageGone, StatusRefused
from ingestion.sources.web.url import site_of

MAX_BYTES = 500 * 1024


class Robots:
    """The rules of each site, read once."""

    def __init__(self, client: WebClient, settings: SourceSettings) -> None:
        self.client = client
        self.agent = settings.web_user_agent.partition("/")[0]
        self.max_delay = settings.web_max_delay_seconds
        self.rules: dict[str, Protego | PageAway] = {}
        self.next_request: dict[str, float] = {}

    async def permit(self, url: str) -> None:
        """Waits until the page may be requested. Raises ItemRefused, or PageAway while the rules cannot be read."""
        site = site_of(url)
        if site not in self.rules:
            self.rules[site] = await self._read(site)
        rules = self.rules[site]
        if isinstance(rules, PageAway):
            raise PageAway(rules.message)
        if not rules.can_fetch(url, self.agent):
            raise ItemRefused("web-robots", "The site's robots.txt does not allow this page.")
        await self._wait(site, min(rules.crawl_delay(self.agent) or 0.0, self.max_delay))

    async def _read(self, site: str) -> Protego | PageAway:
        """Reads the rules. Without the file everything is allowed, without a response nothing (RFC 9309, 2.3.1)."""
        found = bytearray()
        try:
            async with self.client.get(f"{site}/robots.txt", _anywhere, _nothing_more) as answer:
                async for piece in answer.body:
                    found += piece
                    if len(found) >= MAX_BYTES:
                        break
        except (PageGone, StatusRefused):
            return Protego.parse("")
        except PageAway as error:
            return PageAway(f"The site's robots.txt cannot be read: {error.message}")
        return Protego.parse(found[:MAX_BYTES].decode("utf-8-sig", errors="replace"))

    async def _wait(self, site: str, delay: float) -> None:
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self.next_request.get(site, 0.0) - clock()))
        self.next_request[site] = clock() + delay


async def _anywhere(url: str) -> None:
    """Permits any URL: robots.txt may redirect to another site and is not itself subject to rules."""
    del url


def _nothing_more(url: str) -> Mapping[str, str]:
    del url
    return {}
