"""Finds in a document's name and header when it was written, its edition, and what it replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge_graph.extraction.dates import date_in_name, first_date
from knowledge_graph.extraction.identifiers import DOCUMENT_IDS
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import DocumentStanding, SourceDocument
from knowledge_graph.extraction.tenses import CURRENT, PAST, PLANNED
from knowledge_graph.extraction.word_lists import equations

HEADER_LINES = 40
LONGEST_LINE = 300
FIELD = re.compile(
    r"[ \t>|]*+(?:[-*•][ \t]+)?\**_?([A-Za-zÄÖÜäöü][A-Za-zÄÖÜäöü -]{2,30}?)_?\**[ \t]*[:|]\**[ \t]*(\S.*)"
)
NUMBER = re.compile(rf"(?<![\w-])({DOCUMENT_IDS})[- ]?0*(\d{{1,6}})(?![\w-])", re.IGNORECASE)
EDITION = re.compile(r"(?<![\w.])v(?:ersion)?[ ._-]?(\d{1,4}(?:\.\d{1,4}){0,3})(?![\w-])", re.IGNORECASE)
PLAIN_EDITION = re.compile(r"v?(\d{1,4}(?:\.\d{1,4}){0,3})(?!\S)", re.IGNORECASE)
SUFFIX = re.compile(r"\.\w{1,8}$")
HEADERS = {name: meaning for names, meaning in equations("document_headers", ",") for name in names}
STATES = {word: status for words, status in equations("document_states") for word in words}
REJECTED = "rejected"


STATUS_SECTIONS = frozenset({"status", "state", "zustand"})
NUMBERED_TITLE = re.compile(r"(?:(?:ADR|RFC)[- ]?)?0*(\d{1,5})(?:[.:]|[ -–—]+)[ \w]", re.IGNORECASE)
LINKED_NUMBER = re.compile(r"(?:\[|\()(?:\[?(?:ADR|RFC)[- ]?)?0*(\d{1,5})(?:[.:]|-|\])", re.IGNORECASE)
SUPERSEDES = re.compile(r"\b(supersed|replac|obsolet|ersetz|löst)(e[sd]?|t)?(?: ab)?\b( by| durch)?", re.IGNORECASE)


def standing(document: SourceDocument) -> DocumentStanding:
    """Returns what the document says about its place among others; source code says nothing."""
    if document.is_code:
        return DocumentStanding(written=document.written)
    fields = dict(reversed(list(_fields(document))))
    name = SUFFIX.sub("", document.name.rpartition("/")[2])
    called = f"{document.title or ''} {name}"
    known = {_number(found) for found in NUMBER.finditer(called.replace("_", "-"))}
    section = _status_section(document)
    if section is not None:
        number = NUMBERED_TITLE.match(document.title or "") or NUMBERED_TITLE.match(name)
        known |= {f"ADR-{int(number.group(1))}"} if number is not None and not known else set()
        fields = _of_section(section) | fields
    known_as = sorted(known)
    state = fields.get("status", "")
    replaced = sorted({_number(found) for found in NUMBER.finditer(fields.get("replaces", ""))} - known)
    edition = PLAIN_EDITION.match(fields.get("version", "")) or EDITION.search(called.replace("_", " "))
    series = EDITION.sub("", (document.title or name).replace("_", " "))
    return DocumentStanding(
        written=_written(document, fields.get("date", ""), name),
        series=name_key(series) if edition else "",
        edition=tuple(int(part) for part in edition.group(1).split(".")) if edition else (),
        known_as=tuple(known_as),
        replaces=tuple(replaced),
        status=_status(state, is_numbered=bool(known_as), is_replaced="replaced" in fields),
    )


def _status_section(document: SourceDocument) -> str | None:
    """Returns the text under the heading "Status" of a decision record."""
    for chunk in document.chunks:
        if chunk.headings and chunk.headings[-1].strip().casefold() in STATUS_SECTIONS:
            return chunk.content
    return None


def _of_section(section: str) -> dict[str, str]:
    """Returns the fields that the section states in sentences: "Accepted", "Superseded by [7. …](0007-….md)"."""
    lines = [line.strip(" *_-") for line in section.split("\n") if line.strip(" *_-")]
    fields = {"status": " ".join(lines)}
    for line in lines:
        match = SUPERSEDES.match(line)
        numbers = [_number(found) for found in NUMBER.finditer(line)]
        numbers += [f"ADR-{int(found.group(1))}" for found in LINKED_NUMBER.finditer(line)]
        if match is not None:
            fields["replaced" if match.group(3) else "replaces"] = " ".join(numbers)
    if "replaces" in fields:
        fields["status"] = lines[0]
    return fields


def _written(document: SourceDocument, stated: str, name: str) -> str | None:
    """Returns the date from the header, the name or title, or the metadata, most certain first."""
    return first_date(stated) or date_in_name(name) or first_date(document.title or "") or document.written


def _status(state: str, *, is_numbered: bool, is_replaced: bool) -> str:
    """Returns the status of the document's statements. A plan in a handbook is still current: the handbook says it."""
    words = re.findall(r"\w+", state.casefold())
    found = next((STATES[word] for word in words if word in STATES), CURRENT)
    if is_replaced or found == PAST:
        return PAST
    return found if is_numbered and found in {PLANNED, REJECTED} else CURRENT


def _fields(document: SourceDocument) -> Iterator[tuple[str, str]]:
    """Yields the header fields listed in `words/document_headers.txt`, under the names used there."""
    left = HEADER_LINES
    for chunk in document.chunks[:2]:
        for line in chunk.content.split("\n")[:left]:
            found = FIELD.match(line[:LONGEST_LINE])
            meaning = HEADERS.get(" ".join(found.group(1).casefold().split())) if found else None
            if found is not None and meaning is not None:
                yield meaning, found.group(2).strip(" |*_")
        left -= chunk.content.count("\n") + 1
        if left <= 0:
            return


def _number(found: re.Match[str]) -> str:
    return f"{found.group(1).upper()}-{int(found.group(2))}"
