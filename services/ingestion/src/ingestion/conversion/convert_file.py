"""Converts one file to `document.md` and `chunks.jsonl`, in the calling process."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from uuid import UUID

from contracts.formats import extension
from ingestion.conversion import docling_formats
from ingestion.conversion.chunks import chunks
from ingestion.conversion.declared_markup import READERS as DECLARED_IN
from ingestion.conversion.declared_text import front_matter, header
from ingestion.conversion.decoding import decode
from ingestion.conversion.detection import detect
from ingestion.conversion.errors import EmptyDocument, InputTooLarge, PageLimitExceeded
from ingestion.conversion.file_format import Format
from ingestion.conversion.language import LanguageDetector
from ingestion.conversion.legacy_office import through_libreoffice
from ingestion.conversion.metadata import Declared, describe
from ingestion.conversion.passages import Passage, TokenBudget, storable
from ingestion.conversion.pdf.inspection import inspect_pdf
from ingestion.conversion.pdf.models import PdfModels
from ingestion.conversion.plain_text import first_title, text_document, text_passages
from ingestion.conversion.restructured.html import restructured_html
from ingestion.conversion.restructured.parsing import UnreadableMarkup
from ingestion.conversion.source_code import code_document, code_passages
from ingestion.conversion.structured import Area, structured_passages
from ingestion.conversion.titles import document_title, tidy
from ingestion.conversion.values import ConversionProgress, Converted, Limits
from ingestion.conversion.workbooks import as_xlsx

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

AREAS: dict[Format, Area] = {Format.pdf: "box", Format.image: "box", Format.xlsx: "cells"}
OnProgress = Callable[[ConversionProgress], None]


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that the conversions of a process share."""

    budget: TokenBudget
    languages: LanguageDetector
    pdf: PdfModels


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, with everything its reader needs. `folder` is for temporary files."""

    data: bytes
    name: str
    kind: Format
    folder: Path
    limits: Limits
    resources: Resources
    on_progress: OnProgress


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The result of a reader. `text` is the file's own text if it is a text file; `engine` names the reader."""

    document: DoclingDocument
    markdown: str
    title: str | None
    passages: Callable[[], list[Passage]]
    declared: Declared
    engine: str
    text: str | None = None


def convert_file(
    source: BinaryIO,
    file_name: str,
    document_id: UUID,
    output: Path,
    limits: Limits,
    resources: Resources,
    on_progress: OnProgress,
) -> Converted:
    """Converts a file and writes both outputs into `output`, `chunks.jsonl` last. Raises ConversionError."""
    data = _bytes(source, limits)
    kind = detect(data, file_name)
    on_progress(ConversionProgress("convert"))
    found = READERS[kind](SourceFile(data, file_name, kind, output, limits, resources, on_progress))
    pages = len(found.document.pages) or None
    on_progress(ConversionProgress("chunk", pages, pages))
    rows = chunks(found.passages(), found.markdown, document_id, resources.budget)
    if not rows:
        raise EmptyDocument("No text was found in the document.")
    _write(output, found, [row.model_dump_json() for row in rows])
    about = describe(found.document, found.text, found.declared, resources.languages)
    return Converted(pages, found.title, len(rows), len(found.markdown), found.engine, **about)


def _bytes(source: BinaryIO, limits: Limits) -> bytes:
    size = os.fstat(source.fileno()).st_size
    if size > limits.input_bytes:
        raise InputTooLarge(f"The file has {size} bytes; {limits.input_bytes} are allowed.")
    return source.read(limits.input_bytes)


def _code(file: SourceFile) -> ReadFile:
    text, suffix = storable(decode(file.data)), extension(file.name)
    document = code_document(text, file.name, suffix)
    markdown = document.export_to_markdown()
    return ReadFile(
        document, markdown, None, lambda: code_passages(text, suffix, file.resources.budget), Declared(), "code"
    )


def _plain_text(file: SourceFile) -> ReadFile:
    text = storable(decode(file.data))
    declared = header(text)
    title = declared.title or tidy(first_title(text))
    document = text_document(text, file.name)
    return ReadFile(document, text, title, lambda: text_passages(text, file.resources.budget), declared, "text", text)


def _restructured_text(file: SourceFile) -> ReadFile:
    text = storable(decode(file.data))
    try:
        page = restructured_html(text)
    except UnreadableMarkup:
        return _plain_text(file)
    return _structured(file, page.encode(), header(text), text, "docutils")


def _markdown(file: SourceFile) -> ReadFile:
    declared, text = front_matter(decode(file.data))
    return _structured(file, storable(text).encode(), declared, text)


def _pdf(file: SourceFile) -> ReadFile:
    facts = inspect_pdf(file.data)
    _check_pages(facts.pages, file.limits)
    return _structured(file, file.data, facts.declared, engine=file.resources.pdf.name)


def _image(file: SourceFile) -> ReadFile:
    return _structured(file, file.data, Declared(), engine=file.resources.pdf.name)


def _office_before_2007(file: SourceFile) -> ReadFile:
    data, kind = through_libreoffice(file.data, file.kind, file.folder)
    found = READERS[kind](replace(file, data=data, kind=kind))
    return replace(found, engine=f"{found.engine} via libreoffice")


def _binary_workbook(file: SourceFile) -> ReadFile:
    found = _declaring(replace(file, data=as_xlsx(file.data), kind=Format.xlsx))
    return replace(found, engine=f"{found.engine} via calamine")


def _jats(file: SourceFile) -> ReadFile:
    return _structured(file, docling_formats.with_doctype(file.data), DECLARED_IN[file.kind](file.data))


def _declaring(file: SourceFile) -> ReadFile:
    """Reads a format whose bytes docling takes unchanged."""
    reader = DECLARED_IN.get(file.kind)
    return _structured(file, file.data, reader(file.data) if reader else Declared())


def _decoded(file: SourceFile) -> ReadFile:
    """Reads a format whose docling reader expects UTF-8."""
    reader = DECLARED_IN.get(file.kind)
    content = storable(decode(file.data)).encode()
    return _structured(file, content, reader(file.data) if reader else Declared())


READERS: dict[Format, Callable[[SourceFile], ReadFile]] = {
    Format.pdf: _pdf,
    Format.image: _image,
    **dict.fromkeys((Format.docx, Format.pptx, Format.xlsx, Format.odt, Format.odp, Format.ods), _declaring),
    **dict.fromkeys((Format.doc, Format.ppt, Format.rtf), _office_before_2007),
    **dict.fromkeys((Format.xls, Format.xlsb), _binary_workbook),
    **dict.fromkeys((Format.epub, Format.email, Format.mhtml, Format.html), _declaring),
    Format.jats: _jats,
    Format.markdown: _markdown,
    Format.restructured_text: _restructured_text,
    **dict.fromkeys((Format.asciidoc, Format.latex, Format.webvtt, Format.csv, Format.boxnote), _decoded),
    Format.code: _code,
    Format.text: _plain_text,
}


def _structured(
    file: SourceFile, content: bytes, declared: Declared, text: str | None = None, engine: str | None = None
) -> ReadFile:
    """Reads `content` with docling, in the format of the file."""

    def on_page(done: int, pages: int) -> None:
        file.on_progress(ConversionProgress("convert", done, pages))

    limits, resources, kind = file.limits, file.resources, file.kind
    document, lines = docling_formats.read(content, file.name, kind, limits.pages, resources.pdf, on_page)
    _check_pages(len(document.pages), limits)
    docling_formats.join_heading_parts(document)
    title = document_title(document, kind, declared.title)
    docling_formats.reveal(document, kind)
    markdown = document.export_to_markdown(image_placeholder="", escape_html=False, escape_underscores=False)
    return ReadFile(
        document,
        storable(markdown),
        title,
        lambda: structured_passages(document, resources.budget, AREAS.get(kind), lines),
        declared,
        engine or f"docling/{kind}",
        text,
    )


def _check_pages(pages: int, limits: Limits) -> None:
    if pages > limits.pages:
        raise PageLimitExceeded(f"The document has {pages} pages; {limits.pages} are allowed.")


def _write(output: Path, found: ReadFile, rows: list[str]) -> None:
    (output / "document.md").write_text(found.markdown, encoding="utf-8")
    (output / "chunks.jsonl").write_text("".join(row + "\n" for row in rows), encoding="utf-8")
