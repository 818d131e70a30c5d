"""What text files say about themselves: YAML front matter, header fields, attributes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import yaml

from ingestion.conversion.markdown import FRONT_MATTER
from ingestion.conversion.metadata import Declared

HEADER_FIELD = re.compile(r":?([A-Za-z][\w -]{0,40}?):(?:\s+(.*))?$")
NAMES = {
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
    "subject": "tags",
    "language": "languages",
    "creator": "authors",
    "date": "written",
    "created": "written",
    "issued": "written",
    "modified": "modified",
}
LONGEST_HEADER = 16 * 1024  # characters of a text in which its header is looked for


def add(declared: Declared, name: str, value: object) -> None:
    """Under the name that the formats' fields share; others are passed over."""
    key = name.strip().lower().replace("_", "-")
    prefix, _, rest = key.replace(":", ".").partition(".")
    known = DUBLIN_CORE.get(rest) if prefix in {"dc", "dcterms"} else NAMES.get(key)
    if known is not None and value:
        getattr(declared, known).append(value)


def front_matter(text: str) -> Declared:
    """Of Markdown; nothing when it is not a YAML mapping."""
    found = FRONT_MATTER.match(text)
    try:
        fields = yaml.safe_load(found[1]) if found else None
    except (yaml.YAMLError, ValueError):  # ValueError: a day that does not exist
        fields = None
    return of_fields(fields.items() if isinstance(fields, Mapping) else ())


def header(text: str) -> Declared:
    """Of plain text, reStructuredText and AsciiDoc: `Author: ...` or `:Author: ...` lines before the first section.

    A block of lines counts when all of it is fields, as in a PEP's or a document's header.
    """
    declared = Declared()
    for block in re.split(r"\n[^\S\n]*\n", text[:LONGEST_HEADER].lstrip())[:3]:
        lines = [line for line in block.split("\n") if not line.startswith(("=", "..", "//"))]
        fields = list(_fields(lines))
        for name, value in fields:
            add(declared, name, value)
    return declared


def attributes(text: str) -> Declared:
    """Of AsciiDoc: `:keywords: ...` lines of the header."""
    head, _, _ = text[:LONGEST_HEADER].lstrip().partition("\n\n")
    return of_fields((found[1], found[2]) for found in re.finditer(r"^:([\w-]+):[ \t]+(.+)$", head, re.MULTILINE))


def preamble(text: str) -> Declared:
    """Of LaTeX: `\\author` and `\\date`."""
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


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The fields of a block, continued lines joined; none when a line belongs to no field."""
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
