"""Chooses the title of a document, depending on its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docling_core.types.doc.items.text import SectionHeaderItem, TitleItem
from docling_core.types.doc.labels import DocItemLabel

from ingestion.conversion.file_format import Format
from ingestion.conversion.passages import storable

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

LONGEST = 300  # characters
DECLARED_FIRST = {Format.html, Format.docx, Format.pdf, Format.restructured_text}
ANY_LEVEL = {Format.pdf, Format.pptx, Format.image}


def document_title(document: DoclingDocument, kind: Format, declared: str | None) -> str | None:
    """Returns the declared title or the first heading, whichever is more reliable in the format."""
    heading = _heading(document, kind in ANY_LEVEL)
    if kind in {Format.pptx, Format.image}:
        return heading  # the declared title often names a template or a device
    return (declared or heading) if kind in DECLARED_FIRST else (heading or declared)


def tidy(title: str | None) -> str | None:
    """Returns the title on one line, storable and not too long; None if nothing is left."""
    return " ".join(storable(title or "").split())[:LONGEST].rstrip() or None


def _heading(document: DoclingDocument, any_level: bool) -> str | None:
    headings = [
        item for item in document.texts if isinstance(item, TitleItem | SectionHeaderItem) and item.text.strip()
    ]
    for item in headings:
        if item.label is DocItemLabel.TITLE or (
            isinstance(item, SectionHeaderItem) and item.level == 1 and not any_level
        ):
            return tidy(item.text)
    return tidy(headings[0].text) if headings and any_level else None
