"""Paths on this machine: below the roots that the operator opens to a workspace, and opened without leaving them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

NAME_IT = "The operator names it in SOURCE_ROOTS; a folder without names is open to the administrator's alone."
NO_ROOTS = f"No folder is open to sources of this workspace. {NAME_IT}"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Never follows what was exchanged for a link meanwhile, and never waits for a pipe's other end.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotAllowed(Exception):
    """The path leaves the roots, or there are none. The message is a sentence for users."""


def located(path: str, roots: Sequence[Path]) -> Path:
    """The folder that a source names, links resolved; a relative path lies below the first root that has it.

    Raises NotAllowed, and FileNotFoundError or another OSError when it is not there.
    """
    if not roots:
        raise NotAllowed(NO_ROOTS)
    places = [root / path for root in roots]  # an absolute path stays as it is
    place = next((one for one in places if one.exists()), places[0])
    _require_beneath(Path(os.path.normpath(place)), [*roots, *_real(roots)])  # says nothing of what lies elsewhere
    real = place.resolve(strict=True)
    _require_beneath(real, _real(roots))
    return real


def is_beneath(path: Path, roots: Sequence[Path]) -> bool:
    """True when this path, whose links are resolved, is a root or lies below one."""
    return any(path.is_relative_to(root) for root in _real(roots))


@contextmanager
def opened_beneath(path: Path, roots: Sequence[Path]) -> Iterator[BinaryIO]:
    """The file, for reading in blocks. Raises NotAllowed when a link on the way leaves the roots, and OSError."""
    real = path.resolve(strict=True)
    root = next((root for root in _real(roots) if real.is_relative_to(root)), None)
    if root is None:
        raise NotAllowed("The link leads out of the folders that the operator allows.")
    with os.fdopen(_descriptor(root, real.relative_to(root).parts), "rb", buffering=0) as file:
        yield file


def _descriptor(root: Path, parts: Sequence[str]) -> int:
    """Opens the path part by part: none of them can be exchanged for a link that leads elsewhere."""
    folder = os.open(root, DIRECTORY)
    try:
        for part in parts[:-1]:
            below = os.open(part, DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(parts[-1], FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _real(roots: Sequence[Path]) -> list[Path]:
    return [root.resolve() for root in roots]


def _require_beneath(path: Path, roots: Sequence[Path]) -> None:
    if not any(path.is_relative_to(root) for root in roots):
        raise NotAllowed(f"The path is not below a folder that is open to sources of this workspace. {NAME_IT}")
