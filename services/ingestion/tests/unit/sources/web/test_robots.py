"""Patterns of a robots.txt, which any site can write at will."""

from __future__ import annotations

from time import thread_time

import pytest
from protego import Protego
from security.slow_patterns import LENGTH, MOST_GROWTH, SHORT, allowed_seconds


@pytest.mark.parametrize("pattern", ["/" + "*a" * 2000 + "*b", "/*" + "a" * 200 + "*b$", "/" + "*a*b" * 500 + "$"])
def test_every_robots_pattern_matches_in_linear_time(pattern: str) -> None:
    rules = Protego.parse(f"User-agent: *\nDisallow: {pattern}\n")

    def seconds(length: int) -> float:
        url = "https://example.org/" + "a" * length
        began = thread_time()
        assert rules.can_fetch(url, "Attractor")
        return thread_time() - began

    short, long = (min(seconds(length) for _ in range(5)) for length in (SHORT, LENGTH))
    assert long <= allowed_seconds(pattern) or long < MOST_GROWTH * short
