"""The selection of a source's paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from watchfiles import Change

from ingestion.sources.selection import Selection
from ingestion.sources.source import SourceRefused
from ingestion.sources.watch import concerns


@pytest.mark.parametrize(
    ("include", "exclude", "path", "taken"),
    [
        ([], [], "a/b.md", True),
        ([], [], "Makefile", True),
        ([], [], ".hidden.md", False),
        ([], [], "a/.git/config.md", False),
        ([], [], "film.mp4", False),
        (["*.mp4"], [], "film.mp4", True),
        (["docs/**"], [], "docs/film.mp4", False),
        (["docs/**/*.md"], [], "docs/a/b.md", True),
        (["docs/**/*.md"], [], "a/docs/b.md", False),
        (["*.md"], [], "deep/below/b.md", True),
        (["*.md"], [], ".github/b.md", False),
        ([".github/**"], [], ".github/b.md", True),
        ([], ["drafts/"], "drafts/b.md", False),
        ([], ["*.md", "!keep.md"], "keep.md", True),
        (["**"], ["**/old/**"], "a/old/b.md", False),
    ],
)
def test_files_are_selected_by_patterns(include: list[str], exclude: list[str], path: str, taken: bool) -> None:
    assert Selection(include, exclude).wants(path) is taken


def test_folders_that_cannot_contain_a_match_are_not_entered() -> None:
    selection = Selection([], ["node_modules/"])
    assert selection.enters("docs")
    assert not selection.enters("docs/node_modules")
    assert not selection.enters(".git")
    assert not Selection([".github/**"], []).enters(".git")
    assert Selection([".github/**"], []).enters(".github")


@pytest.mark.parametrize("pattern", ["!", "[z-a]", "a\\"])
def test_an_invalid_pattern_is_refused_and_named(pattern: str) -> None:
    with pytest.raises(SourceRefused):
        Selection([pattern], [])


def test_changes_to_unselected_files_are_ignored(tmp_path: Path) -> None:
    selection = Selection([], ["build/"])
    (tmp_path / "folder.v2").mkdir()

    def concerned(change: Change, name: str) -> bool:
        return concerns(change, str(tmp_path / name), tmp_path, selection)

    assert concerned(Change.added, "a.md")
    assert concerned(Change.added, "folder.v2")
    assert concerned(Change.deleted, "other.v3")
    assert not concerned(Change.modified, ".a.md.swp")
    assert not concerned(Change.added, "film.mp4")
    assert not concerned(Change.modified, "build/a.md")
    assert not concerns(Change.added, str(tmp_path.parent / "a.md"), tmp_path, selection)
