"""One file to `document.json`, `document.md` and `chunks.jsonl`, in the calling process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from contracts.formats import extension
from ingestion.conversion import docling_formats
from ingestion.conversion.chunks import chunks
from ingestion.conversion.decoding import decode
from ingestion.conversion.detection import Format, detect
from ingestion.conversion.errors import EmptyDocument, InputTooLarge, PageLimitExceeded
from ingestion.conversion.markdown import join_heading_parts, split_front_matter
from ingestion.conversion.passages import Passage, TokenBudget, storable
from ingestion.conversion.pdf.inspection import inspect_pdf
from ingestion.conversion.plain_text import text_document, text_passages, text_title
from ingestion.conversion.source_code import code_document, code_passages
from ingestion.conversion.structured import structured_passages
from ingestion.conversion.titles import document_title, tidy
from ingestion.conversion.values import Converted, Limits, Progress

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

ENGINES = {
    Format.pdf: "docling/rapid-layout",
    Format.image: "docling/rapid-layout",
    Format.code: "code",
    Format.text: "text",
}
BOXED = {Format.pdf, Format.image}
OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class _Read:
    document: DoclingDocument
    markdown: str
    title: str | None
    passages: Callable[[], list[Passage]]


def convert_file(
    source: Path,
    file_name: str,
    document_id: UUID,
    output: Path,
    limits: Limits,
    budget: TokenBudget,
    threads: int,
    on_progress: OnProgress,
) -> Converted:
    """Writes the three files into `output`, `chunks.jsonl` last. Raises ConversionError."""
    data = _bytes(source, limits)
    kind = detect(data, file_name)
    on_progress(Progress("convert"))
    if kind in {Format.code, Format.text}:
        result = _read_text(data, file_name, kind, budget)
    else:
        result = _read_structured(data, file_name, kind, limits, budget, threads, on_progress)
    pages = len(result.document.pages) or None
    on_progress(Progress("chunk", pages, pages))
    rows = chunks(result.passages(), document_id, budget)
    if not rows:
        raise EmptyDocument("No text was found in the document.")
    _write(output, result, [row.model_dump_json() for row in rows])
    return Converted(pages, result.title, len(rows), len(result.markdown), ENGINES.get(kind, f"docling/{kind.value}"))


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
        return _Read(document, document.export_to_markdown(), None, lambda: code_passages(text, suffix, budget))
    return _Read(text_document(text, file_name), text, tidy(text_title(text)), lambda: text_passages(text, budget))


def _read_structured(
    data: bytes,
    file_name: str,
    kind: Format,
    limits: Limits,
    budget: TokenBudget,
    threads: int,
    on_progress: OnProgress,
) -> _Read:
    declared, content = _declared(data, kind, limits)
    document = docling_formats.read(
        content, file_name, kind, limits.pages, threads, lambda done, all_: on_progress(Progress("convert", done, all_))
    )
    if len(document.pages) > limits.pages:
        raise _too_many(len(document.pages), limits)
    join_heading_parts(document)
    return _Read(
        document,
        storable(document.export_to_markdown(image_placeholder="", escape_html=False, escape_underscores=False)),
        document_title(document, kind, data, declared),
        lambda: structured_passages(document, budget, boxes=kind in BOXED),
    )


def _declared(data: bytes, kind: Format, limits: Limits) -> tuple[str | None, bytes]:
    """The title that the file's metadata name, and the bytes for docling."""
    if kind is Format.pdf:
        facts = inspect_pdf(data)
        if facts.pages > limits.pages:
            raise _too_many(facts.pages, limits)
        return facts.title, data
    if kind is Format.markdown:
        title, text = split_front_matter(decode(data))
        return title, storable(text).encode()
    return None, storable(decode(data)).encode() if kind is Format.csv else data


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
