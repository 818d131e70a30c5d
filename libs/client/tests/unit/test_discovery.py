"""Which files are found in folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attractor_client.discovery import Found, LeftOut, discover


def found(*paths: Path) -> list[str]:
    return [one.path.name for one in discover(paths) if isinstance(one, Found)]


def left_out(*paths: Path) -> dict[str, str]:
    return {one.path.name: one.reason for one in discover(paths) if isinstance(one, LeftOut)}


def write(top: Path, *names: str) -> None:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)


def test_folders_are_walked_in_a_stable_order(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a/deep/er/y.txt", "c.pdf")
    assert found(tmp_path) == ["b.md", "c.pdf", "z.md", "y.txt"]


def test_hidden_and_generated_files_are_skipped_and_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".env", ".git/config", "node_modules/x.js", "x.egg-info/PKG", "~$a.docx", "dist/a.html")
    assert found(tmp_path) == ["a.md"]
    built = "build or version-control folder"
    assert left_out(tmp_path) == {
        ".env": "hidden",
        ".git": "hidden",
        "~$a.docx": "hidden",
        "node_modules": built,
        "x.egg-info": built,
        "dist": built,
    }


def test_unsupported_file_types_are_skipped_by_name(tmp_path: Path) -> None:
    write(tmp_path, "a.MD", "film.mp4", "tool.exe", "LICENSE", "Dockerfile", "main.rs", "old.pub")
    assert found(tmp_path) == ["Dockerfile", "LICENSE", "a.MD", "main.rs"]
    assert left_out(tmp_path) == dict.fromkeys(("film.mp4", "tool.exe", "old.pub"), "unsupported format")
    assert found(tmp_path / "film.mp4") == ["film.mp4"]


def test_explicitly_named_files_are_always_included(tmp_path: Path) -> None:
    write(tmp_path, ".env", "build/a.md", "plain.md")
    (tmp_path / "link.md").symlink_to(tmp_path / "plain.md")
    assert found(tmp_path / ".env", tmp_path / "build", tmp_path / "link.md") == [".env", "a.md", "link.md"]


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "inside/a.md")
    write(tmp_path.parent, "outside/secret.md")
    (tmp_path / "inside/loop").symlink_to(tmp_path)
    (tmp_path / "inside/self").symlink_to("self")
    (tmp_path / "inside/out.md").symlink_to(tmp_path.parent / "outside/secret.md")
    assert found(tmp_path) == ["a.md"]
    assert set(left_out(tmp_path).values()) == {"symbolic link"}
    assert [one for one in discover([tmp_path / "inside/self"]) if isinstance(one, LeftOut) and one.failed]


def test_a_file_named_twice_is_included_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    assert found(tmp_path, tmp_path / "a.md", tmp_path) == ["a.md"]
    assert left_out(tmp_path, tmp_path / "a.md") == {"a.md": "the same file again", "b.md": "the same file again"}


def test_missing_and_special_files_are_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    [missing] = discover([tmp_path / "none"])
    assert isinstance(missing, LeftOut)
    assert (missing.failed, missing.message) == (True, "No such file or directory")
    assert [(one.reason, one.failed) for one in discover([tmp_path / "pipe"]) if isinstance(one, LeftOut)] == [
        ("not a regular file", True)
    ]
    assert left_out(tmp_path) == {"pipe": "not a regular file"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "closed/a.md", "open.md")
    (tmp_path / "closed").chmod(0)
    assert found(tmp_path) == ["open.md"]
    assert left_out(tmp_path) == {"closed": "cannot be read"}
    (tmp_path / "closed").chmod(0o700)
