"""What office documents hold beside their body: the names of sheets, comments, the notes of a speaker."""

from __future__ import annotations

from docling_core.types.doc.common.content_layer import ContentLayer
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.group import GroupItem
from docling_core.types.doc.items.node import DocItem
from docling_core.types.doc.items.text import SectionHeaderItem
from docling_core.types.doc.labels import GroupLabel

from ingestion.conversion.file_format import Format

ANNOTATED = {Format.docx, Format.pptx, Format.xlsx, Format.odt, Format.odp, Format.ods}


def reveal(document: DoclingDocument, kind: Format) -> None:
    """Comments and notes become part of the text, and each sheet of a workbook gets its name as its heading."""
    if kind not in ANNOTATED:
        return
    for item, _ in document.iterate_items(with_groups=True, included_content_layers={ContentLayer.NOTES}):
        if isinstance(item, DocItem | GroupItem):
            item.content_layer = ContentLayer.BODY
    if kind is Format.xlsx:
        _name_sheets(document)


def _name_sheets(document: DoclingDocument) -> None:
    sheets = [group for group in document.groups if group.label is GroupLabel.SHEET and group.name and group.children]
    for item in document.texts:
        if isinstance(item, SectionHeaderItem):
            item.level += 1
    for sheet in sheets:
        document.insert_heading(sheet.children[0].resolve(document), sheet.name, level=1, after=False)
