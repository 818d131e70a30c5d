"""Reads one file with docling: the backend of its format, the pipeline, and what docling leaves undone.

docling.document_converter does the first two for many formats, but imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING

from docling.datamodel.backend_options import HTMLBackendOptions
from docling.datamodel.base_models import ConversionStatus, InputFormat
from docling.datamodel.document import InputDocument, get_input_rejection_cause
from docling.datamodel.pipeline_options import ConvertPipelineOptions
from docling.datamodel.progress import PageCompletedProgress, ProgressReporter
from docling.datamodel.settings import DocumentLimits
from docling.pipeline.simple_pipeline import SimplePipeline
from docling_core.types.doc.common.content_layer import ContentLayer
from docling_core.types.doc.items.group import GroupItem
from docling_core.types.doc.items.node import DocItem
from docling_core.types.doc.items.text import SectionHeaderItem, TitleItem
from docling_core.types.doc.labels import GroupLabel

from ingestion.conversion.containers import SUSPECT_RATIO
from ingestion.conversion.errors import CorruptFile, PageLimitExceeded
from ingestion.conversion.file_format import Format
from ingestion.conversion.pdf.line_boxes import PageLines, lines_by_page

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

    from ingestion.conversion.pdf.models import PdfModels

BACKENDS: dict[Format, tuple[InputFormat, str, str]] = {
    Format.markdown: (InputFormat.MD, "md_backend", "MarkdownDocumentBackend"),
    Format.html: (InputFormat.HTML, "html_backend", "HTMLDocumentBackend"),
    Format.restructured_text: (InputFormat.HTML, "html_backend", "HTMLDocumentBackend"),
    Format.docx: (InputFormat.DOCX, "msword_backend", "MsWordDocumentBackend"),
    Format.pptx: (InputFormat.PPTX, "mspowerpoint_backend", "MsPowerpointDocumentBackend"),
    Format.xlsx: (InputFormat.XLSX, "msexcel_backend", "MsExcelDocumentBackend"),
    Format.odt: (InputFormat.ODT, "opendocument_backend", "OdtDocumentBackend"),
    Format.odp: (InputFormat.ODP, "opendocument_backend", "OdpDocumentBackend"),
    Format.ods: (InputFormat.ODS, "opendocument_backend", "OdsDocumentBackend"),
    Format.epub: (InputFormat.EPUB, "epub_backend", "EpubDocumentBackend"),
    Format.email: (InputFormat.EMAIL, "email_backend", "EmailDocumentBackend"),
    Format.mhtml: (InputFormat.MHTML, "html_backend", "HTMLDocumentBackend"),
    Format.boxnote: (InputFormat.BOXNOTE, "boxnote_backend", "BoxNoteDocumentBackend"),
    Format.jats: (InputFormat.XML_JATS, "xml.jats_backend", "JatsDocumentBackend"),
    Format.asciidoc: (InputFormat.ASCIIDOC, "asciidoc_backend", "AsciiDocBackend"),
    Format.latex: (InputFormat.LATEX, "latex_backend", "LatexDocumentBackend"),
    Format.webvtt: (InputFormat.VTT, "webvtt_backend", "WebVTTDocumentBackend"),
    Format.csv: (InputFormat.CSV, "csv_backend", "CsvDocumentBackend"),
    Format.pdf: (InputFormat.PDF, "docling_parse_backend", "ThreadedDoclingParseDocumentBackend"),
    Format.image: (InputFormat.IMAGE, "image_backend", "ImageDocumentBackend"),
}
PAGED = {Format.pdf, Format.image}
OPEN_DOCUMENT = {Format.odt, Format.odp, Format.ods}
ANNOTATED = {Format.docx, Format.pptx, Format.xlsx, *OPEN_DOCUMENT}
JATS_ROOT = re.compile(rb"<article\b")
JATS_DOCTYPE = b'<!DOCTYPE article SYSTEM "JATS-archivearticle1.dtd">\n'
JATS_HEAD = 64 * 1024  # bytes in which the article begins
OnPage = Callable[[int, int], None]


def backend(kind: Format) -> type:
    _, module, name = BACKENDS[kind]
    if kind in OPEN_DOCUMENT:  # repetitive tables exceed odfdo's ratio of 200; `containers` refuses bombs
        import_module("odfdo.security").security.max_compression_ratio = SUSPECT_RATIO
    found: type = getattr(import_module(f"docling.backend.{module}"), name)
    return found


def read(
    data: bytes, file_name: str, kind: Format, max_pages: int, pdf: PdfModels, on_page: OnPage
) -> tuple[DoclingDocument, PageLines]:
    """Returns the structured document, and of PDF files and images the lines of each page.

    For these, `on_page` gets the pages done and their total.

    Raises CorruptFile when docling cannot read the file, RecursionError when it is nested too deeply,
    PageLimitExceeded and MemoryError.
    """
    source = InputDocument(
        BytesIO(data),
        format=BACKENDS[kind][0],
        backend=backend(kind),
        # HTML from docutils is all content, even before its first heading.
        backend_options=HTMLBackendOptions(infer_furniture=False) if kind is Format.restructured_text else None,
        filename=file_name,
        limits=DocumentLimits(max_num_pages=max_pages, max_file_size=len(data)),
    )
    if source.page_count > max_pages:
        raise PageLimitExceeded(f"The document has {source.page_count} pages; {max_pages} are allowed.")
    if not source.valid:
        raise _unreadable(kind, _rejection(source))

    def on_event(event: object) -> None:
        if isinstance(event, PageCompletedProgress):
            on_page(event.completed_pages, event.total_pages)

    progress = ProgressReporter([on_event], document_name=file_name)
    pipeline = pdf.pipeline(kind is Format.image) if kind in PAGED else SimplePipeline(ConvertPipelineOptions())
    try:
        result = pipeline.execute(source, raises_on_error=True, progress=progress)
    except RuntimeError as error:  # docling wraps any failure in one
        if isinstance(error.__cause__, RecursionError | MemoryError):
            raise error.__cause__ from None
        raise _unreadable(kind, str(error.__cause__ or error)) from error
    if result.status not in {ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS}:
        raise _unreadable(kind, result.errors[0].error_message if result.errors else "no reason given")
    return result.document, lines_by_page(result.pages) if kind in PAGED else {}


def _rejection(source: InputDocument) -> str:
    cause = get_input_rejection_cause(source)
    return str((cause.__cause__ or cause) if cause else "") or "it is damaged or incomplete"


def _unreadable(kind: Format, reason: str) -> CorruptFile:
    return CorruptFile(f"The file could not be read as {kind.value} ({' '.join(reason.split())[:200]}).")


def join_heading_parts(document: DoclingDocument) -> None:
    """Restores the text of headings that consist of several runs, such as words and a code span.

    Docling reads such a heading as an empty one with the runs below it.
    """
    for item, _ in list(document.iterate_items()):
        if isinstance(item, TitleItem | SectionHeaderItem) and not item.text and item.children:
            parts = [part for part, _ in document.iterate_items(root=item, with_groups=True) if part is not item]
            text = " ".join(part.text for part in parts if isinstance(part, DocItem) and hasattr(part, "text"))
            item.text = item.orig = re.sub(r"\s([.,;:!?)])", r"\1", " ".join(text.split()))
            document.delete_items(node_items=[child.resolve(document) for child in item.children])


def reveal(document: DoclingDocument, kind: Format) -> None:
    """Makes comments and notes part of the text, and each sheet's name a heading."""
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


def with_doctype(data: bytes) -> bytes:
    """Adds the JATS document type, the only mark by which docling recognises the format. It is not loaded."""
    root = JATS_ROOT.search(data, 0, JATS_HEAD)
    if root is None or b"<!DOCTYPE" in data[: root.start()]:
        return data
    return data[: root.start()] + JATS_DOCTYPE + data[root.start() :]
