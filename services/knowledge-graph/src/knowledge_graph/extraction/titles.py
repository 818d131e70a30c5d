"""The names in a document's title, its file name and its headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from knowledge_graph.extraction.code_imports import GRAMMARS
from knowledge_graph.extraction.full_names import EVIDENT
from knowledge_graph.extraction.identifiers import identifiers, without_overlaps
from knowledge_graph.extraction.names import STOP_WORDS, is_label, is_name
from knowledge_graph.extraction.records import SourceChunk, SourceDocument, Span

MOST_WORDS = 8
SHORTEST = 3
NUMBERING = re.compile(r"^\s*(?:\d++(?:\.\d++)*[.)]|\d++(?:\.\d++)+|#+)\s+")
OF_HEADINGS = re.compile(r"^\s*(?:\d{1,2}|[A-Z]\.(?!\s*[A-Z]\.))\s+")
"""Numbers of headings (`2 Methods`, `A. Results`). In titles they are part of the name ("12 Angry Men", "F. R.
Leavis")."""
NUMBERED = re.compile(r"[\W\d_]*[A-Za-z]{0,4}[\W\d_]*|[0-9a-fA-F-]{16,}")
"""File names that say nothing: `doc-17`, `img_0042`, a hash."""
ARTICLE = re.compile(r"^(?:The|An?) ")
PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*+\)")
SECTION = re.compile(
    r"(?:chapter|section|part|appendix|annex|exhibit|table|figure|fig|step|phase|day|week|page|slide|sheet)\.? ?"
    r"(?:[\d.]{1,6}|[A-Z]|[IVX]{1,5})",
    re.IGNORECASE,
)


def titles(document: SourceDocument, chunk: SourceChunk, *, first: bool) -> Iterator[tuple[Span, str]]:
    """Yields names with the reason why the chunk is about them: the headings above it, nearest first; for the
    document's `first` chunk also title and file name. Each name once."""
    sources = [(heading, "CONCEPT", "heading") for heading in reversed(chunk.headings)]
    if first:
        sources.insert(0, (document.title or "", "DOCUMENT", "title"))
        sources.append((document.name.rpartition("/")[2], "DOCUMENT", "name"))
        sources.append((_stem(document.name), "DOCUMENT", "name"))
    is_module = document.name.rpartition(".")[2].lower() in GRAMMARS
    for text, entity_type, about in sources:
        for span in _names(text, entity_type):
            yield (replace(span, entity_type="LIBRARY") if is_module and about == "name" else span), about


def occurrences(text: str, names: Iterable[Span], found: Sequence[Span]) -> Iterator[Span]:
    """Yields each exact occurrence of the document's titles, typed by the names `found` there."""
    surfaces = {name.surface: name.entity_type for name in names}
    shorter = {bare for one in surfaces if " " in (bare := ARTICLE.sub("", one)) and bare[0].isupper()}
    for surface in sorted(surfaces.keys() | shorter):
        if len(surface) >= SHORTEST and not surface.islower() and is_name(surface):
            known = surfaces.get(surface, "")
            known = known if known in EVIDENT else "ENTITY"
            for match in re.finditer(rf"(?<!\w){re.escape(surface)}(?!\w)", text):
                kinds = {one.entity_type for one in found if one.start < match.end() and match.start() < one.end}
                yield Span(match.start(), match.end(), surface, kinds.pop() if len(kinds) == 1 else known)


def _stem(name: str) -> str:
    """Returns the name in a file name: `Lothair_II.txt` is about Lothair II."""
    stem, dot, _ = name.rpartition("/")[2].rpartition(".")
    return " ".join(re.split(r"[_ ]+", stem)).strip() if dot and not NUMBERED.fullmatch(stem) else ""


def _names(title: str, entity_type: str) -> list[Span]:
    """Returns the title if it is short enough to be a name, also without parentheses and without what follows a comma;
    and the identifiers in a longer one."""
    plain = NUMBERING.sub("", title)
    if entity_type == "CONCEPT":
        plain = OF_HEADINGS.sub("", plain)
    plain = plain.strip().strip("`*_ .:")
    found = without_overlaps(list(identifiers(plain)))
    if len(found) == 1 and found[0].surface == plain:
        return found
    bare = PARENTHESIS.sub("", plain).strip()
    shorter = dict.fromkeys([plain, bare, bare.split(",")[0].strip()])
    return [Span(0, len(name), name, entity_type) for name in shorter if _is_short(name)] + found


def _is_short(name: str) -> bool:
    parts = name.casefold().split()
    # "Who still needs Payday?" is a question; "Who Framed Roger Rabbit?" is a film.
    is_question = name.endswith("?") and any(
        word.islower() and word not in STOP_WORDS for word in name.rstrip("?").split()
    )
    return (
        not is_question
        and len(parts) <= MOST_WORDS
        and not is_label(parts)
        and not SECTION.fullmatch(name)
        and is_name(name)
    )
