"""The page about ten million chunks says what the simulation computes."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scale import tables

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def test_the_tables_of_the_page_are_what_the_simulation_computes() -> None:
    shown = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert shown == [line for line in tables().splitlines() if line]
