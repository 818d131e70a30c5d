"""Reads plain text: sections with underlined titles, and paragraphs inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.labels import DocItemLabel

from ingestion.conversion.packing import pack
from ingestion.conversion.passages import Passage, TokenBudget

ADORNMENT = re.compile(r"([=\-~^\"'`#*+:.<>_])\1{2,}\s*$")
LONGEST_TITLE = 160  # characters


@dataclass(frozen=True, slots=True)
class Section:
    """`level` counts from 1; 0 is the text before the first title. `first_line` is where `text` begins, from 1."""

    title: str | None
    level: int
    path: tuple[str, ...]
    text: str
    first_line: int


@dataclass(frozen=True, slots=True)
class _Title:
    line: int  # index of the title's first line, including an overline
    end: int  # index of the line after the title
    text: str
    style: tuple[str, bool]


def sections(text: str) -> list[Section]:
    """Splits the text at titles: lines that are underlined, and possibly overlined, over their whole width.

    As in reStructuredText, the level of a title follows from the order in which styles of lines first appear.
    """
    lines = text.split("\n")
    titles = list(_titles(lines))
    found = [Section(None, 0, (), "\n".join(lines[: titles[0].line if titles else None]), 1)]
    styles: list[tuple[str, bool]] = []
    path: list[str] = []
    for title, following in zip_longest(titles, titles[1:]):
        if title.style not in styles:
            styles.append(title.style)
        level = styles.index(title.style) + 1
        path = [*path[: level - 1], title.text]
        body = lines[title.end : following.line if following else None]
        found.append(Section(title.text, level, tuple(path), "\n".join(body), title.end + 1))
    return found


def _titles(lines: Sequence[str]) -> Iterator[_Title]:
    index = 0
    while index + 1 < len(lines):
        overlined = index + 2 < len(lines) and _overlined(lines, index)
        at = index + 1 if overlined else index
        if overlined or _underlined(lines, index):
            yield _Title(index, at + 2, lines[at].strip(), (lines[at + 1][0], overlined))
            index = at + 2
        else:
            index += 1


def _underlined(lines: Sequence[str], index: int) -> bool:
    title, under = lines[index], lines[index + 1]
    stands_alone = index == 0 or not lines[index - 1].strip()
    return stands_alone and _reads_like_title(title) and not title[0].isspace() and _as_wide(under, title)


def _overlined(lines: Sequence[str], index: int) -> bool:
    over, title, under = lines[index : index + 3]
    same = over.rstrip() == under.rstrip()
    return bool(same and ADORNMENT.match(over) and _reads_like_title(title) and _as_wide(under, title.strip()))


def _reads_like_title(line: str) -> bool:
    return 0 < len(line.strip()) <= LONGEST_TITLE and not ADORNMENT.match(line) and any(c.isalnum() for c in line)


def _as_wide(under: str, title: str) -> bool:
    return bool(ADORNMENT.match(under)) and len(under.rstrip()) >= len(title.rstrip())


def first_title(text: str) -> str | None:
    """Returns the title with which the text begins, or None."""
    parts = sections(text)
    return parts[1].title if len(parts) > 1 and not parts[0].text.strip() else None


def text_passages(text: str, budget: TokenBudget) -> list[Passage]:
    """Returns passages section by section. The title of an empty section is a passage of its own."""
    parts = sections(text)
    passages: list[Passage] = []
    for section, following in zip_longest(parts, parts[1:]):
        path = budget.capped(section.path)
        found = pack(section.text, budget, path, section.first_line)
        if not found and section.title and not (following and following.level > section.level):
            found = pack(section.title, budget, path[:-1], section.first_line - 2)
        passages += found
    return passages


def text_document(text: str, name: str) -> DoclingDocument:
    document = DoclingDocument(name=name)
    for section in sections(text):
        if section.title is not None:
            document.add_heading(text=section.title, level=section.level)
        for paragraph in re.split(r"\n(?:[^\S\n]*+\n)++", section.text):
            if paragraph.strip():
                document.add_text(label=DocItemLabel.TEXT, text=paragraph.strip("\n"))
    return document
