"""Opens paths below the roots that the operator allows a workspace, without ever leaving those roots."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

NAME_IT = "The operator names it in SOURCE_ROOTS; a folder without names is open to the administrator's alone."
NO_ROOTS = f"No folder is open to sources of this workspace. {NAME_IT}"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Does not follow a file that was replaced by a link meanwhile, nor wait for the other end of a pipe.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotAllowed(Exception):
    """The path leads out of the roots, or there are none. The message is a sentence for users."""


def located(path: str, roots: Sequence[Path]) -> Path:
    """Returns the folder of a source with links resolved. A relative path is below the first root that contains it.

    Raises NotAllowed, and FileNotFoundError or another OSError if it is not there.
    """
    if not roots:
        raise NotAllowed(NO_ROOTS)
    places = [root / path for root in roots]  # an absolute path stays as it is
    place = next((one for one in places if one.exists()), places[0])
    _require_beneath(Path(os.path.normpath(place)), [*roots, *_real(roots)])  # reveals nothing about other paths
    real = place.resolve(strict=True)
    _require_beneath(real, _real(roots))
    return real


def is_beneath(path: Path, roots: Sequence[Path]) -> bool:
    """Returns whether a path with resolved links is a root or below one."""
    return any(path.is_relative_to(root) for root in _real(roots))


@contextmanager
def opened_beneath(path: Path, roots: Sequence[Path]) -> Iterator[BinaryIO]:
    """Opens the file unbuffered. Raises NotAllowed if a link on the way leads out of the roots, and OSError."""
    real = path.resolve(strict=True)
    root = next((root for root in _real(roots) if real.is_relative_to(root)), None)
    if root is None:
        raise NotAllowed("The link leads out of the folders that the operator allows.")
    with os.fdopen(_descriptor(root, real.relative_to(root).parts), "rb", buffering=0) as file:
        yield file


def _descriptor(root: Path, parts: Sequence[str]) -> int:
    """Opens the path part by part, so that none can be replaced by a link that leads elsewhere."""
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
