"""The part of a text that shows why it was found."""

from __future__ import annotations

import pytest

from orchestrator.sessions.snippets import snippet

LONG = "word " * 100


@pytest.mark.parametrize(
    ("content", "query", "begins", "ends"),
    [
        ("Short text", "text", "Short text", "Short text"),
        ("two\n\n  lines", "missing", "two lines", "two lines"),
        (f"{LONG}Größe der Schlüssel. {LONG}", "grosse der SCHLUSSEL", "…word word", "word…"),
        (f"{LONG}Größe", "grö", "…word word", "word Größe"),
        (f"prefixed {LONG}fixed here", "fixed", "…word word", "fixed here"),
        (f"{LONG}kept -dropped", "kept -dropped", "…word", "kept -dropped"),
        ("x" * 1_000, "xxx", "xxx", "x…"),
        ("", "", "", ""),
    ],
)
def test_a_snippet_shows_the_matching_text(content: str, query: str, begins: str, ends: str) -> None:
    shown = snippet(content, query)
    assert shown.startswith(begins)
    assert shown.endswith(ends)
    assert len(shown) <= 202


def test_the_longest_word_is_shown_with_its_context() -> None:
    shown = snippet(f"{LONG}The BillingRouter fails. {LONG}", "the billingrouter")
    assert "word The BillingRouter fails. word" in shown
