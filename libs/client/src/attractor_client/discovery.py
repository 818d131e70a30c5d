"""Finds the files of folders to ingest, and says which are skipped and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from contracts.formats import may_be_supported

BUILD_FOLDERS = frozenset(
    {"build", "dist", "target", "node_modules", "bower_components", "__pycache__", "site-packages", "venv", "env"}
    | {"CVS", "htmlcov"}
)
HIDDEN = "hidden"
BUILD = "build or version-control folder"
LINK = "symbolic link"
NOT_REGULAR = "not a regular file"
REPEATED = "the same file again"
UNREADABLE = "cannot be read"
UNSUPPORTED = "unsupported format"


@dataclass(frozen=True)
class Found:
    """A file to ingest; `named` if the user named it, rather than a folder that contains it."""

    path: Path
    named: bool


@dataclass(frozen=True)
class LeftOut:
    """A file that is not ingested: because it cannot be read (`failed`), or on purpose."""

    path: Path
    reason: str
    failed: bool = False
    message: str | None = None


def discover(paths: Sequence[Path]) -> Iterator[Found | LeftOut]:
    """Yields the files in a stable order. Named files are always included, even if they are hidden or symbolic links.

    In folders, symbolic links are not followed, which rules out loops and files from outside the folder.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        for one in _at(path):
            identity = _identity(one.path) if isinstance(one, Found) else None
            if identity in seen:
                yield LeftOut(one.path, REPEATED)
                continue
            if identity:
                seen.add(identity)
            yield one


def _at(path: Path) -> Iterator[Found | LeftOut]:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        yield _unreadable(path, error)
        return
    if stat.S_ISDIR(mode):
        yield from _in_folder(path)
    elif stat.S_ISREG(mode):
        yield Found(path, named=True)
    else:
        yield LeftOut(path, NOT_REGULAR, failed=True)


def _in_folder(top: Path) -> Iterator[Found | LeftOut]:
    errors: list[LeftOut] = []
    for folder, folders, files in os.walk(top, onerror=lambda error: errors.append(_unreadable(top, error))):
        yield from errors
        errors.clear()
        kept = []
        for name in sorted(folders):
            path = Path(folder, name)
            reason = _reason(path) or (BUILD if name in BUILD_FOLDERS or name.endswith(".egg-info") else None)
            if reason:
                yield LeftOut(path, reason)
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            yield _file(Path(folder, name))
    yield from errors


def _file(path: Path) -> Found | LeftOut:
    if reason := _reason(path):
        return LeftOut(path, reason)
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        return _unreadable(path, error)
    if not regular:
        return LeftOut(path, NOT_REGULAR)
    return Found(path, named=False) if may_be_supported(path.name) else LeftOut(path, UNSUPPORTED)


def _reason(path: Path) -> str | None:
    # Office programs create lock files that begin with ~$ next to an open document.
    if path.name.startswith((".", "~$")):
        return HIDDEN
    return LINK if path.is_symlink() else None


def _unreadable(path: Path, error: OSError) -> LeftOut:
    return LeftOut(Path(error.filename or path), UNREADABLE, failed=True, message=error.strerror)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None  # it is reported when it is opened
    return status.st_dev, status.st_ino
