"""A document's title, by what its format offers."""

from __future__ import annotations

import html
import re
from io import BytesIO
from typing import TYPE_CHECKING

from docling_core.types.doc.items.text import SectionHeaderItem, TitleItem
from docling_core.types.doc.labels import DocItemLabel

from ingestion.conversion.detection import Format
from ingestion.conversion.passages import storable

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

HTML_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title\s*>", re.IGNORECASE | re.DOTALL)
HEAD = 64 * 1024  # bytes of an HTML file in which its title is looked for
LONGEST = 300  # characters


def document_title(document: DoclingDocument, kind: Format, data: bytes, declared: str | None) -> str | None:
    """`declared` is what metadata said: a PDF's, or a Markdown file's front matter."""
    if kind is Format.html:
        return tidy(_html_title(data)) or _heading(document)
    if kind is Format.docx:
        return tidy(_office_title(data)) or _heading(document)
    if kind is Format.pdf:
        return tidy(declared) or _heading(document, any_level=True)
    if kind in {Format.pptx, Format.image}:
        return _heading(document, any_level=True)
    return _heading(document) or tidy(declared)


def tidy(title: str | None) -> str | None:
    """On one line, storable, of a sane length; None when nothing is left."""
    return " ".join(storable(title or "").split())[:LONGEST].rstrip() or None


def _heading(document: DoclingDocument, any_level: bool = False) -> str | None:
    headings = [
        item for item in document.texts if isinstance(item, TitleItem | SectionHeaderItem) and item.text.strip()
    ]
    for item in headings:
        if item.label is DocItemLabel.TITLE or (
            isinstance(item, SectionHeaderItem) and item.level == 1 and not any_level
        ):
            return tidy(item.text)
    return tidy(headings[0].text) if headings and any_level else None


def _html_title(data: bytes) -> str | None:
    found = HTML_TITLE.search(data[:HEAD].decode("utf-8", errors="replace"))
    return html.unescape(found[1]) if found else None


def _office_title(data: bytes) -> str | None:
    import docx  # noqa: PLC0415 - only this format needs it

    title: str | None = docx.Document(BytesIO(data)).core_properties.title
    return title
