"""Resolves an answer's markers: annotations for programs, footnotes for people. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contracts.locations import location
from contracts.openai_api import ChatAnnotation, UrlCitation
from contracts.orchestrator import Citation

HEADING = "\n\nSources:\n"
LONGEST_QUOTE = 300
_MARKER = re.compile(r"\[(\d{1,4})\]")
_SPACE = re.compile(r"\s+")


def annotated(text: str, citations: Sequence[Citation], base_url: str) -> list[ChatAnnotation]:
    """Returns one annotation for each marker in the text that refers to a citation."""
    return [
        ChatAnnotation(
            url_citation=UrlCitation(
                start_index=start, end_index=end, title=title_of(citation), url=url_of(citation, base_url)
            )
        )
        for start, end, citation in marked(text, citations)
    ]


def marked(text: str, citations: Sequence[Citation]) -> Iterator[tuple[int, int, Citation]]:
    """Yields the markers of the text, as (start, end, citation)."""
    by_number = {citation.number: citation for citation in citations}
    for found in _MARKER.finditer(text):
        if (citation := by_number.get(int(found[1]))) is not None:
            yield found.start(), found.end(), citation


def footnotes(citations: Sequence[Citation]) -> str:
    """Returns the list of sources that ends an answer, empty without citations."""
    if not citations:
        return ""
    ordered = sorted(citations, key=lambda citation: citation.number)
    return HEADING + "\n".join(f"- [{one.number}] {_place(one)}: “{_short(one.quote)}”" for one in ordered)


def without_footnotes(text: str) -> str:
    """Returns an answer without its list of sources, since clients send it back as history."""
    at = text.rfind(HEADING)
    return text[:at] if at >= 0 and text.startswith("- [", at + len(HEADING)) else text


def title_of(citation: Citation) -> str:
    return citation.document_title or citation.document_name


def url_of(citation: Citation, base_url: str) -> str:
    """Returns the address of the document, at its page."""
    page = f"#page={citation.page}" if citation.page else ""
    return f"{base_url}/v1/documents/{citation.document_id}/original{page}"


def _place(citation: Citation) -> str:
    where = location(citation.section, citation.page, citation.line_start, citation.line_end)
    return ", ".join(filter(None, (title_of(citation), where)))


def _short(quote: str) -> str:
    text = _SPACE.sub(" ", quote).strip()
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE].rstrip()}…"
