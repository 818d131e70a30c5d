"""The pages about sizes say what is computed from the figures."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scale import tables, teams

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tables_of_the_page_are_what_the_simulation_computes() -> None:
    shown = [line for line in (DOCS / "scale.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert shown == [line for line in tables().splitlines() if line]


def test_the_page_about_sizes_says_what_a_team_needs() -> None:
    assert f"\n\n{teams()}" in (DOCS / "sizing.md").read_text(encoding="utf-8")
