"""Metadata of a document: headings, tags, language, authors, times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, TypedDict

from docling_core.types.doc.items.code import CodeItem
from docling_core.types.doc.items.text import FormulaItem, SectionHeaderItem, TitleItem

from ingestion.conversion.dates import point_in_time
from ingestion.conversion.language import LanguageDetector
from ingestion.conversion.titles import tidy
from ingestion.conversion.values import MOST_HEADINGS

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

MOST_TAGS = 50
LONGEST_TAG = 100  # characters
MOST_AUTHORS = 50
LONGEST_AUTHOR = 200
TAG_LINE = re.compile(r"^ {0,2}(?:[-*>] +)?:?(?:\*\*|__)?tags(?:\*\*|__)?:(?:\*\*|__)?[ \t]*(\S.*)$", re.IGNORECASE)
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
MAIL_ADDRESS = re.compile(r"<[^<>]*+>|(?<![\w.+-])[\w.+-]++(?:@| at )[\w-]++(?:\.[\w-]++)++")
NOT_A_NAME = re.compile(
    r"^(?:https?:|www\.|(?:openpyxl|xlsxwriter|python-(?:docx|pptx)|unknown|microsoft office user)$)", re.IGNORECASE
)


@dataclass(slots=True)
class Declared:
    """The metadata that a file declares, unprocessed. The first of several titles, languages and times counts."""

    titles: list[object] = field(default_factory=list)
    tags: list[object] = field(default_factory=list)
    languages: list[object] = field(default_factory=list)
    authors: list[object] = field(default_factory=list)
    written: list[object] = field(default_factory=list)
    modified: list[object] = field(default_factory=list)

    @property
    def title(self) -> str | None:
        return next((title for each in self.titles if isinstance(each, str) and (title := tidy(each))), None)

    @property
    def language(self) -> str | None:
        return next((each for each in self.languages if isinstance(each, str) and each.strip()), None)

    @property
    def written_at(self) -> datetime | None:
        return _first_time(self.written)

    @property
    def modified_at(self) -> datetime | None:
        return _first_time(self.modified)


class Description(TypedDict):
    """The fields with the same names in `ingestion.conversion.values.Converted`."""

    headings: tuple[str, ...]
    tags: tuple[str, ...]
    language: str | None
    authors: tuple[str, ...]
    written_at: datetime | None
    modified_at: datetime | None


def describe(
    document: DoclingDocument, text: str | None, declared: Declared, languages: LanguageDetector
) -> Description:
    """Describes a document. `text` is the content of a text file, with its original lines; None for other formats."""
    parts = prose(document)
    lines = tag_lines(text) if text is not None else (found for part in parts for found in tag_lines(part))
    return Description(
        headings=headings(document),
        tags=tags([*declared.tags, *lines]),
        language=languages.language(parts, declared.language),
        authors=authors(declared.authors),
        written_at=declared.written_at,
        modified_at=declared.modified_at,
    )


def headings(document: DoclingDocument) -> tuple[str, ...]:
    """Returns the headings in order, each on one line."""
    found = (tidy(item.text) for item in document.texts if isinstance(item, TitleItem | SectionHeaderItem))
    return tuple(islice((each for each in found if each), MOST_HEADINGS))


def prose(document: DoclingDocument) -> list[str]:
    """Returns the paragraphs, or the headings if there is no other text; without code and formulas."""
    items = [item for item in document.texts if not isinstance(item, CodeItem | FormulaItem)]
    paragraphs = [item.text for item in items if not isinstance(item, TitleItem | SectionHeaderItem)]
    return paragraphs or [item.text for item in items]


def tag_lines(text: str) -> Iterator[str]:
    """Yields the values of lines `tags: …` outside of fenced or indented code."""
    fence: str | None = None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence is not None:
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = None
        elif mark:
            fence = mark[1]
        elif found := TAG_LINE.match(line):
            yield found[1]


def tags(found: Iterable[object]) -> tuple[str, ...]:
    """Splits comma-separated texts and lists into tags, unique without regard to case; omits overlong ones."""
    kept: dict[str, str] = {}
    for text in _strings(found):
        listed = text.strip().strip("[]")
        hashed = re.findall(r"#(\S+)", listed) if re.fullmatch(r"(?:#\S++[\s,]*+)++", listed) else None
        for part in hashed or re.split(r"[,;\n、，]", listed):
            tag = tidy(part.strip(" \t\"'`*_#,")) or ""
            if 0 < len(tag) <= LONGEST_TAG:
                kept.setdefault(tag.casefold(), tag)
    return tuple(islice(kept.values(), MOST_TAGS))


def authors(found: Iterable[object]) -> tuple[str, ...]:
    """Returns the names without mail addresses, or the address where there is no name."""
    kept: dict[str, str] = {}
    for text in _strings(found):
        for part in _people(text):
            bare = MAIL_ADDRESS.sub(" ", part)
            name = tidy(bare.strip(" \t\n\"'(),;")) or tidy(part.strip(" <>"))
            if name and len(name) <= LONGEST_AUTHOR and not NOT_A_NAME.match(name):
                kept.setdefault(name.casefold(), name)
    return tuple(islice(kept.values(), MOST_AUTHORS))


def _people(text: str) -> list[str]:
    """Splits at semicolons, else at commas and `and` if all names or no name has several words (no 'Last, First')."""
    if ";" in text:
        return text.split(";")
    parts = [part for part in re.split(r",|(?<!\s)\s++and\s+|\s&\s", text) if part.strip()]
    several = sum(len(part.split()) > 1 or "@" in part for part in parts)
    alike = several == len(parts) or (not several and re.search(r"\sand\s|\s&\s", text))
    return parts if alike else [text]


def _strings(found: Iterable[object]) -> Iterator[str]:
    for each in found:
        if isinstance(each, str):
            yield each
        elif isinstance(each, int | float) and not isinstance(each, bool):
            yield str(each)
        elif isinstance(each, Mapping):
            yield from _strings(value for key, value in each.items() if key == "name")
        elif isinstance(each, list | tuple):
            yield from _strings(each)


def _first_time(found: Iterable[object]) -> datetime | None:
    return next((moment for each in found if (moment := point_in_time(each)) is not None), None)
