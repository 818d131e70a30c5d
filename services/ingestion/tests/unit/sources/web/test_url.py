"""Normalised URLs."""

from __future__ import annotations

import pytest

from ingestion.sources.web.url import canonical, path_of, pattern_path, repeats_itself, site_of

BASE = "https://example.org/docs/guide/"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("#part", "https://example.org/docs/guide/"),
        ("../a.html#x", "https://example.org/docs/a.html"),
        ("/a/./b/../c", "https://example.org/a/c"),
        ("//Other.Example:443/x", "https://other.example/x"),
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("?b=2&a=1", "https://example.org/docs/guide/?b=2&a=1"),
        ("a?utm_source=x&id=3&gclid=9", "https://example.org/docs/guide/a?id=3"),
        ("a?", "https://example.org/docs/guide/a"),
        ("a;jsessionid=12AB?x=1", "https://example.org/docs/guide/a?x=1"),
        ("%7euser/%c3%bc", "https://example.org/docs/guide/~user/%C3%BC"),
        ("ü b", "https://example.org/docs/guide/%C3%BC%20b"),
        ("  a \n", "https://example.org/docs/guide/a"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("\\\\evil.example\\x", "https://example.org/docs/guide///evil.example/x"),
    ],
)
def test_relative_urls_are_resolved_and_normalised(reference: str, expected: str) -> None:
    found = canonical(reference, BASE)
    assert found == expected
    assert canonical(found) == found


@pytest.mark.parametrize(
    "reference",
    [
        "mailto:a@b.example",
        "javascript:void(0)",
        "ftp://x/",
        "data:text/html,x",
        "http://u:p@x.example/",
        "http://[",
        "a" * 1001,
    ],
)
def test_urls_that_are_not_pages_are_ignored(reference: str) -> None:
    assert canonical(reference, BASE) is None


def test_site_and_path_are_compared() -> None:
    url = "http://example.org:8080/a/b?x=1"
    assert site_of(url) == "http://example.org:8080"
    assert path_of(url) == "/a/b?x=1"
    assert pattern_path("https://example.org/%C3%BCber/x%20y?z=1") == "über/x y"
    assert pattern_path("https://example.org/") == ""


def test_self_repeating_paths_are_detected() -> None:
    assert repeats_itself("https://example.org/a/b/a/b/a/b/a/b")
    assert not repeats_itself("https://example.org/2026/11/11/11/x")
