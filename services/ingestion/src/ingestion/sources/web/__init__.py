"""Follows the web: one page, the pages of a sitemap, or a bounded crawl of one site."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

from contracts.sources import WebConfig
from ingestion.sources.selection import Selection
from ingestion.sources.settings import Reach
from ingestion.sources.source import SourceReader, SourceRefused
from ingestion.sources.web.url import MAX_CHARACTERS, canonical
from service_kit.web_address import AddressRefused


async def check(config: WebConfig, reach: Reach) -> None:
    """Raises SourceRefused, also for literal internal addresses. Requests nothing and resolves no names."""
    Selection(config.include, config.exclude)
    try:
        reach.settings.web_allowed_networks.check_url(str(config.url))
    except AddressRefused as error:
        raise SourceRefused(str(error)) from error
    if canonical(str(config.url)) is None:
        raise SourceRefused(f"the URL is longer than {MAX_CHARACTERS} characters")


@asynccontextmanager
async def open_reader(
    config: WebConfig, reach: Reach, known: Mapping[str, str], scratch: Path
) -> AsyncIterator[SourceReader]:
    """Opens the site; sends no request before the first item."""
    # Imported here because the API's image, which only checks sources, has no HTML parser.
    reading = import_module("ingestion.sources.web.reading")
    async with reading.web_reader(config, reach.settings, known, scratch) as reader:
        yield reader
