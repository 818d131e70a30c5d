"""No regular expression of the product takes more than linear time, whatever the text."""

from __future__ import annotations

import re

import pytest

from security.patterns import Found, product_patterns
from security.slow_patterns import allowed_seconds, slow_texts


@pytest.mark.timeout(1800)  # takes about a minute of one core, more on a busy machine
def test_every_pattern_in_the_product_matches_in_linear_time() -> None:
    """Regression: 31 blanks before a text blocked a conversion for ten minutes, as each blank doubled the time."""
    patterns = product_patterns()
    assert len(patterns) > 200, "the product's patterns are found"
    tried = ((found.where, slow_texts(found, allowed_seconds(found.pattern.pattern))) for found in patterns)
    slow = {where: texts for where, texts in tried if texts}
    assert not slow, "\n".join(f"{where}: {texts}" for where, texts in slow.items())


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (rb"(?:\s+|<\?.*?\?>|<!--.*?-->)*<html", "match"),
        (rb"(?:\s+|%[^\n]*\n)*\\document", "match"),
        (r"(?:#\S+[\s,]*)+", "fullmatch"),
        (r"\s+$", "search"),
        (r"\w+@", "search"),
        (r".*x.*y", "match"),
    ],
)
def test_the_search_for_slow_patterns_detects_known_slow_ones(pattern: str | bytes, method: str) -> None:
    """Shows that the test above detects exponential and quadratic patterns."""
    assert slow_texts(Found("here", re.compile(pattern), frozenset({method})), allowed_seconds())
