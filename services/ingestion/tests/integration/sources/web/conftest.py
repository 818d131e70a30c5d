"""Fixtures: a web site, and a synchroniser for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from web_site import Site, Synchroniser, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def synchronise(site: Site, tmp_path: Path) -> Synchroniser:
    return Synchroniser(site, tmp_path)
