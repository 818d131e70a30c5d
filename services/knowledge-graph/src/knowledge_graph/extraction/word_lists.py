"""Reads the lists in `words/*.txt`: words, lines, or lines of `spellings = name`; `#` begins a comment line."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files


def words(name: str) -> frozenset[str]:
    """Returns all words of a list."""
    return frozenset(word for line in _lines(name) for word in line.split())


def phrases(name: str) -> frozenset[str]:
    """Returns all lines of a list."""
    return frozenset(_lines(name))


def equations(name: str, separator: str | None = None) -> Iterator[tuple[list[str], str]]:
    """Yields the spellings on the left (possibly none; words by default) and the name on the right."""
    for line in _lines(name):
        left, _, right = line.partition("=")
        yield [spelling.strip() for spelling in left.split(separator)], right.strip()


def _lines(name: str) -> Iterator[str]:
    text = files(__package__).joinpath("words", f"{name}.txt").read_text(encoding="utf-8")
    return (line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))
