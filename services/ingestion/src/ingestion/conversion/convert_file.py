"""One file to `document.json`, `document.md` and `chunks.jsonl`, in the calling process."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from contracts.formats import extension
from ingestion.conversion import docling_formats
from ingestion.conversion.chunks import chunks
from ingestion.conversion.declared_markup import READERS
from ingestion.conversion.declared_text import front_matter, header
from ingestion.conversion.decoding import decode
from ingestion.conversion.detection import detect
from ingestion.conversion.errors import EmptyDocument, InputTooLarge, PageLimitExceeded
from ingestion.conversion.file_format import Format
from ingestion.conversion.jats import with_doctype
from ingestion.conversion.layers import reveal
from ingestion.conversion.legacy_office import SUCCESSORS, modernised
from ingestion.conversion.markdown import join_heading_parts, split_front_matter
from ingestion.conversion.metadata import Declared, describe
from ingestion.conversion.passages import Passage, TokenBudget, storable
from ingestion.conversion.pdf.inspection import inspect_pdf
from ingestion.conversion.plain_text import text_document, text_passages, text_title
from ingestion.conversion.resources import Resources
from ingestion.conversion.restructured.markdown import restructured_markdown
from ingestion.conversion.restructured.parsing import UnreadableMarkup
from ingestion.conversion.restructured.passages import restructured_passages
from ingestion.conversion.restructured.reading import read_restructured_text, restructured_document
from ingestion.conversion.source_code import code_document, code_passages
from ingestion.conversion.structured import Area, structured_passages
from ingestion.conversion.titles import document_title, tidy
from ingestion.conversion.values import Converted, Limits, Progress

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

ENGINES = {Format.restructured_text: "docutils", Format.code: "code", Format.text: "text"}
TEXT = set(ENGINES)
DECODED = {Format.csv, Format.asciidoc, Format.latex, Format.webvtt, Format.boxnote}
AREAS: dict[Format, Area] = {Format.pdf: "box", Format.image: "box", Format.xlsx: "cells"}
OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class _Read:
    document: DoclingDocument
    markdown: str
    title: str | None
    passages: Callable[[], list[Passage]]
    declared: Declared
    text: str | None = None  # the file's own, where it is text
    engine: str | None = None  # where it is not the one of the format


def convert_file(
    source: Path,
    file_name: str,
    document_id: UUID,
    output: Path,
    limits: Limits,
    resources: Resources,
    on_progress: OnProgress,
) -> Converted:
    """Writes the three files into `output`, `chunks.jsonl` last. Raises ConversionError."""
    data = _bytes(source, limits)
    kind = detect(data, file_name)
    on_progress(Progress("convert"))
    by = ""
    if kind in SUCCESSORS:
        data, kind = modernised(data, kind, output)
        by = " via libreoffice"
    if kind in TEXT:
        result = _read_text(data, file_name, kind, resources.budget)
    else:
        result = _read_structured(data, file_name, kind, limits, resources, on_progress)
    pages = len(result.document.pages) or None
    on_progress(Progress("chunk", pages, pages))
    rows = chunks(result.passages(), document_id, resources.budget)
    if not rows:
        raise EmptyDocument("No text was found in the document.")
    _write(output, result, [row.model_dump_json() for row in rows])
    about = describe(result.document, result.text, result.declared, resources.languages)
    by_format = resources.pdf.name if AREAS.get(kind) == "box" else ENGINES.get(kind, f"docling/{kind.value}")
    engine = result.engine or by_format
    return Converted(pages, result.title, len(rows), len(result.markdown), engine + by, **about)


def _bytes(source: Path, limits: Limits) -> bytes:
    size = source.stat().st_size
    if size > limits.input_bytes:
        raise InputTooLarge(f"The file has {size} bytes; {limits.input_bytes} are allowed.")
    return source.read_bytes()


def _read_text(data: bytes, file_name: str, kind: Format, budget: TokenBudget) -> _Read:
    text = storable(decode(data))
    if kind is Format.code:
        suffix = extension(file_name)
        document = code_document(text, file_name, suffix)
        return _Read(
            document, document.export_to_markdown(), None, lambda: code_passages(text, suffix, budget), Declared()
        )
    if kind is Format.restructured_text:
        with suppress(UnreadableMarkup):
            return _read_restructured(text, file_name, budget)
    title, document = tidy(text_title(text)), text_document(text, file_name)
    return _Read(document, text, title, lambda: text_passages(text, budget), header(text), text, ENGINES[Format.text])


def _read_restructured(text: str, file_name: str, budget: TokenBudget) -> _Read:
    found = read_restructured_text(text)
    document = restructured_document(found.blocks, file_name)
    passages = partial(restructured_passages, found.blocks, budget)
    markdown = restructured_markdown(found.blocks)
    return _Read(document, markdown, tidy(found.title), passages, header(text), text)


def _read_structured(
    data: bytes,
    file_name: str,
    kind: Format,
    limits: Limits,
    resources: Resources,
    on_progress: OnProgress,
) -> _Read:
    title, declared, content, text = _declared(data, kind, limits)
    document = docling_formats.read(
        content,
        file_name,
        kind,
        limits.pages,
        resources.pdf,
        lambda done, all_: on_progress(Progress("convert", done, all_)),
    )
    if len(document.pages) > limits.pages:
        raise _too_many(len(document.pages), limits)
    join_heading_parts(document)
    shown = document_title(document, kind, data, title)
    reveal(document, kind)
    return _Read(
        document,
        _markdown(document),
        shown,
        lambda: structured_passages(document, resources.budget, AREAS.get(kind)),
        declared,
        text,
    )


def _declared(data: bytes, kind: Format, limits: Limits) -> tuple[str | None, Declared, bytes, str | None]:
    """The title that the file's metadata name, the rest of them, the bytes for docling, and Markdown's text."""
    if kind is Format.pdf:
        facts = inspect_pdf(data)
        if facts.pages > limits.pages:
            raise _too_many(facts.pages, limits)
        return facts.title, facts.declared, data, None
    if kind is Format.markdown:
        whole = decode(data)
        title, text = split_front_matter(whole)
        return title, front_matter(whole), storable(text).encode(), text
    reader = READERS.get(kind.value)
    declared = reader(data) if reader else Declared()
    if kind is Format.jats:
        return None, declared, with_doctype(data), None
    return None, declared, storable(decode(data)).encode() if kind in DECODED else data, None


def _markdown(document: DoclingDocument) -> str:
    return storable(document.export_to_markdown(image_placeholder="", escape_html=False, escape_underscores=False))


def _too_many(pages: int, limits: Limits) -> PageLimitExceeded:
    return PageLimitExceeded(f"The document has {pages} pages; {limits.pages} are allowed.")


def _write(output: Path, result: _Read, rows: list[str]) -> None:
    document = json.dumps(_storable(result.document.export_to_dict()), ensure_ascii=False)
    (output / "document.json").write_text(document, encoding="utf-8")
    (output / "document.md").write_text(result.markdown, encoding="utf-8")
    (output / "chunks.jsonl").write_text("".join(row + "\n" for row in rows), encoding="utf-8")


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {storable(key): _storable(each) for key, each in value.items()}
    return value
