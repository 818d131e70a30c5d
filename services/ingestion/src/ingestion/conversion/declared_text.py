"""Metadata that text files declare: YAML front matter, header fields, attributes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import yaml

from ingestion.conversion.metadata import Declared

FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
HEADER_FIELD = re.compile(r":?([A-Za-z][\w -]{0,40}?):(?:\s+(.*))?$")
NAMES = {
    "title": "titles",
    "tags": "tags",
    "keywords": "tags",
    "keyword": "tags",
    "language": "languages",
    "lang": "languages",
    "locale": "languages",
    "author": "authors",
    "authors": "authors",
    "creator": "authors",
    "date": "written",
    "created": "written",
    "published": "written",
    "publish-date": "written",
    "pubdate": "written",
    "article:published-time": "written",
    "datepublished": "written",
    "updated": "modified",
    "modified": "modified",
    "lastmod": "modified",
    "last-modified": "modified",
    "revdate": "modified",
    "article:modified-time": "modified",
    "og:updated-time": "modified",
    "datemodified": "modified",
    "article:tag": "tags",
    "article:author": "authors",
    "citation-author": "authors",
    "citation-publication-date": "written",
    "citation-keywords": "tags",
}
DUBLIN_CORE = {
    "title": "titles",
    "subject": "tags",
    "language": "languages",
    "creator": "authors",
    "date": "written",
    "created": "written",
    "issued": "written",
    "modified": "modified",
}
STAYS = frozenset(
    {"status", "state", "version", "revision", "replaces", "replaced-by", "supersedes", "superseded-by", "obsoletes"}
    | {"obsoleted-by", "deciders", "decision-makers", "owner", "owners", "owned-by", "team", "depends-on", "part-of"}
    | {"ersetzt", "ersetzt-durch", "zustand", "fassung", "zuständig"}
)
"""Fields of front matter that readers ask about: the status of a page, its owner and what it depends on."""
MOST_VALUES = 30
LONGEST_VALUE = 200
HEADING = re.compile(r"\s{0,80}#{1,6}[ \t][^\n]*(?:\n|\Z)")
LONGEST_HEADER = 16 * 1024  # characters of a text that are searched for its header


def add(declared: Declared, name: str, value: object) -> None:
    """Adds a value to the field that `name` stands for in any format; ignores unknown names."""
    key = name.strip().lower().replace("_", "-")
    prefix, _, rest = key.replace(":", ".").partition(".")
    known = DUBLIN_CORE.get(rest) if prefix in {"dc", "dcterms"} else NAMES.get(key)
    if known is not None and value:
        getattr(declared, known).append(value)


def front_matter(text: str) -> tuple[Declared, str]:
    """Reads the YAML front matter of a Markdown file; returns it and the rest of the text.

    Fields in STAYS are also listed in the text, below its first heading.
    """
    found = FRONT_MATTER.match(text)
    try:
        fields = yaml.safe_load(found[1]) if found else None
    except (yaml.YAMLError, ValueError):  # ValueError: a date that does not exist
        fields = None
    if found is None or not isinstance(fields, Mapping):
        return Declared(), text  # two thematic breaks with prose between them look like front matter, too
    return of_fields(fields.items()), _with_fields(text[found.end() :], list(_values(fields)))


def _values(fields: Mapping[object, object]) -> Iterator[str]:
    """Yields a line for each field in STAYS whose values are words or numbers."""
    for name, value in fields.items():
        bare = name.strip().replace("_", "-").replace(" ", "-").lower() if isinstance(name, str) else ""
        if bare in STAYS:
            values = value if isinstance(value, list) else [value]
            words = [" ".join(str(one).split()) for one in values[:MOST_VALUES] if isinstance(one, str | int | float)]
            shown = ", ".join(one[:LONGEST_VALUE] for one in words if one)
            if shown:
                yield f"- {bare.replace('-', ' ').capitalize()}: {shown}"


def _with_fields(text: str, lines: list[str]) -> str:
    if not lines:
        return text
    heading = HEADING.match(text)
    place = heading.end() if heading else 0
    opening = text[:place] if text[:place].endswith("\n") or not place else f"{text[:place]}\n"
    return f"{opening}\n" + "\n".join(lines) + f"\n\n{text[place:]}"


def header(text: str) -> Declared:
    """Reads the `Author: ...` or `:Author: ...` lines before the first section of a text."""
    return of_fields(field for block in _blocks(text)[:3] for field in _fields(block))


def has_header(text: str) -> bool:
    """Returns whether a text begins like a mail: at least two fields, and nothing else, before the first blank line."""
    return len(list(_fields(_blocks(text)[0]))) > 1


def attributes(text: str) -> Declared:
    """Reads the `:keywords: ...` lines of an AsciiDoc header."""
    head, _, _ = text[:LONGEST_HEADER].lstrip().partition("\n\n")
    return of_fields((found[1], found[2]) for found in re.finditer(r"^:([\w-]+):[ \t]+(.+)$", head, re.MULTILINE))


def preamble(text: str) -> Declared:
    """Reads `\\author` and `\\date` of a LaTeX file."""
    declared = Declared()
    for found in re.finditer(r"\\(author|date)\{([^{}]*)\}", text[:LONGEST_HEADER]):
        for value in re.split(r"\\and\b", found[2]):
            add(declared, found[1], re.split(r"\\\\", value)[0])
    return declared


def of_fields(fields: Iterable[tuple[object, object]]) -> Declared:
    declared = Declared()
    for name, value in fields:
        if isinstance(name, str):
            add(declared, name, value)
    return declared


def _blocks(text: str) -> list[list[str]]:
    """Returns the lines of each block at the head of a text, without underlines and comments."""
    blocks = re.split(r"\n[^\S\n]*\n", text[:LONGEST_HEADER].lstrip())
    return [[line for line in block.split("\n") if not line.startswith(("=", "..", "//"))] for block in blocks]


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yields the fields of a block, with continuation lines joined; none if a line belongs to no field."""
    fields: list[tuple[str, str]] = []
    for number, line in enumerate(lines):
        found = HEADER_FIELD.match(line)
        if line[:1].isspace() and fields:
            fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}")
        elif found:
            fields.append((found[1], found[2] or ""))
        elif number:
            return
    yield from fields
