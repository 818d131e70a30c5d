"""Where a citation stands."""

from __future__ import annotations

import pytest

from contracts.locations import location


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (("Setup > Keys", 3, None, None), "Setup > Keys, page 3"),
        (("Keys", 3, 10, 20), "Keys, page 3"),
        (("Keys", None, 10, 20), "Keys, lines 10-20"),
        ((None, None, 10, 10), "line 10"),
        ((None, None, 10, None), "line 10"),
        (("", None, None, None), ""),
    ],
)
def test_a_citation_stands_under_its_heading_on_a_page_or_else_in_lines(place, text) -> None:
    assert location(*place) == text
