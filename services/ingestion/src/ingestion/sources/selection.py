"""Selects the paths of a source by glob patterns as in .gitignore, and by hidden files and supported formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from contracts.formats import MEDIA_TYPES, extension, has_extension
from ingestion.sources.globs import GlobInvalid, Globs
from ingestion.sources.source import SourceRefused


class Selection:
    """The patterns `include` and `exclude` of a source's configuration. Paths are relative, with slashes.

    Raises SourceRefused if a pattern is invalid.
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self.included = _spec(include)
        self.excluded = _spec(exclude)
        self.hidden = _spec([pattern for pattern in include if is_hidden(pattern)])
        self.suffixes = frozenset(suffix for pattern in include if (suffix := PurePosixPath(pattern).suffix.lower()))
        self.everything = not include

    def enters(self, folder: str) -> bool:
        """Returns False if nothing below this folder can be selected."""
        if self.excluded.match(folder + "/"):
            return False
        return not is_hidden(folder) or (bool(self.hidden) and PurePosixPath(folder).name != ".git")

    def selects(self, path: str) -> bool:
        """Returns whether the patterns select the file; a hidden one needs a pattern that names a hidden part."""
        if self.excluded.match(path) or not (self.everything or self.included.match(path)):
            return False
        return not is_hidden(path) or self.hidden.match(path)

    def wants(self, path: str) -> bool:
        """Returns whether the file is selected, and its extension is absent, supported or named by a pattern."""
        if not self.selects(path):
            return False
        return (
            not has_extension(path.rpartition("/")[2]) or extension(path) in MEDIA_TYPES or self.asks_for_format(path)
        )

    def asks_for_format(self, path: str) -> bool:
        """Returns whether an include pattern names the path's extension, so that a refusal is worth reporting."""
        return PurePosixPath(path).suffix.lower() in self.suffixes


def is_hidden(path: str) -> bool:
    """Returns whether a part of the path begins with a dot."""
    return any(part.startswith(".") and part not in {".", ".."} for part in path.split("/"))


def _spec(patterns: Sequence[str]) -> Globs:
    try:
        return Globs(patterns)
    except GlobInvalid as error:
        raise SourceRefused(str(error)) from error
