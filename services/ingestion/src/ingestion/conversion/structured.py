"""Splits a structured document into passages with docling's HybridChunker."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from docling_core.transforms.chunker.doc_chunk import DocChunk
from docling_core.transforms.chunker.hierarchical_chunker import ChunkingDocSerializer, ChunkingSerializerProvider
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer
from docling_core.transforms.serializer.markdown import MarkdownTableSerializer
from docling_core.types.doc.items.group import InlineGroup
from docling_core.types.doc.items.node import DocItem
from docling_core.types.doc.items.table.table import TableItem
from openpyxl.utils import get_column_letter
from pydantic import ConfigDict

from contracts.ingestion import embedding_text
from ingestion.conversion.packing import pack
from ingestion.conversion.passages import Box, Passage, TokenBudget, storable
from ingestion.conversion.pdf.line_boxes import PageLines, line_boxes, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docling_core.transforms.chunker.base import BaseChunk
    from docling_core.transforms.serializer.base import BaseDocSerializer
    from docling_core.types.doc.document import DoclingDocument


# Docling joins the runs of a paragraph with spaces, even before the punctuation after a code span or bold words.
# Only these marks are corrected, because some languages put a space before others.
SPACE_AFTER_RUN = re.compile(r"(?<=\S) (?=[.,)](?:\s|$))")


class _BudgetTokenizer(BaseTokenizer):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    budget: TokenBudget

    def count_tokens(self, text: str) -> int:
        return self.budget.size(text)

    def get_max_tokens(self) -> int:
        return self.budget.limit

    def get_tokenizer(self) -> Any:
        return self.budget.tokenizer


class _MarkdownTables(ChunkingSerializerProvider):
    """Writes tables as Markdown tables, so that a quote from one can be found in the document."""

    def get_serializer(self, doc: DoclingDocument) -> BaseDocSerializer:
        serializer = ChunkingDocSerializer(doc=doc, table_serializer=MarkdownTableSerializer())
        serializer.params.compact_tables = True
        return serializer


class _Chunker(HybridChunker):
    """Counts headings the way they are embedded, and splits long items like plain text."""

    budget: TokenBudget

    def contextualize(self, chunk: BaseChunk) -> str:
        headings = self.budget.capped(getattr(chunk.meta, "headings", None) or ())
        return embedding_text(headings, chunk.text)

    def _split_by_doc_items(self, doc_chunk: DocChunk, doc_serializer: BaseDocSerializer) -> list[DocChunk]:
        """Keeps a paragraph of several runs in one piece; otherwise each code span in it would become a block."""
        document, items = doc_serializer.doc, doc_chunk.meta.doc_items  # type: ignore[attr-defined]  # Docling's own has it
        parts: list[DocChunk] = [doc_chunk]
        if not any(item.parent and isinstance(item.parent.resolve(document), InlineGroup) for item in items):
            parts = super()._split_by_doc_items(doc_chunk, doc_serializer)
            children = (child.resolve(document) for item in items for child in item.children)
            if not any(isinstance(child, InlineGroup) for child in children):
                return parts
        return [part.model_copy(update={"text": SPACE_AFTER_RUN.sub("", part.text)}) for part in parts]

    def segment(self, doc_chunk: DocChunk, available_length: int, doc_serializer: BaseDocSerializer) -> list[str]:
        if [type(item) for item in doc_chunk.meta.doc_items] == [TableItem]:
            segments: list[str] = super().segment(doc_chunk, available_length, doc_serializer)
            return segments
        headings = self.budget.capped(doc_chunk.meta.headings or ())
        return [passage.content for passage in pack(storable(doc_chunk.text), self.budget, headings)]

    def _merge_chunks_with_matching_metadata(self, chunks: list[DocChunk]) -> list[DocChunk]:
        """Does not merge overlapping parts of one item, which would repeat the overlap."""
        merged = super()._merge_chunks_with_matching_metadata
        runs: list[list[DocChunk]] = []
        for chunk in chunks:
            if runs and not (self.budget.options.overlap_tokens and _share_item(runs[-1][-1], chunk)):
                runs[-1].append(chunk)
            else:
                runs.append([chunk])
        return [chunk for run in runs for chunk in merged(run)]


def _share_item(one: DocChunk, following: DocChunk) -> bool:
    return one.meta.doc_items[-1].self_ref == following.meta.doc_items[0].self_ref


Area = Literal["box", "cells"]


def structured_passages(
    document: DoclingDocument, budget: TokenBudget, area: Area | None, lines: PageLines
) -> list[Passage]:
    """Returns passages in reading order, with pages if the document has them, and with the requested kind of area.

    `lines` are those of the pages, if it has any. The heading of an empty section is a passage of its own.
    """
    chunker = _Chunker(
        tokenizer=_BudgetTokenizer(budget=budget),
        budget=budget,
        serializer_provider=_MarkdownTables(),
        always_emit_headings=True,
    )
    passages: list[Passage] = []
    for chunk in chunker.chunk(document):
        if isinstance(chunk, DocChunk):  # always true; the base class declares a wider type
            found = _passages(chunk, document, budget, area)
            placed = lines_of(chunk.meta.doc_items, document, lines) if lines else []
            boxes = line_boxes([one.content for one in found], placed)
            passages += [replace(one, boxes=tuple(own)) for one, own in zip(found, boxes, strict=True)]
    return passages


def _passages(chunk: DocChunk, document: DoclingDocument, budget: TokenBudget, area: Area | None) -> list[Passage]:
    headings, content = list(chunk.meta.headings or ()), storable(chunk.text)
    if not content.strip():
        if not headings:
            return []
        content = storable(headings.pop())
    path = budget.capped(headings)
    page, page_end, box = _place(chunk.meta.doc_items, document)
    cells = _cells(box) if box and area == "cells" else None
    box = box if area == "box" else None
    return [Passage(part.content, path, page, page_end, box, cells=cells) for part in _fitting(content, path, budget)]


def _cells(box: Box) -> str:
    """Returns the box of a sheet, which counts columns and rows from 0 with exclusive ends, as a range like A1:D20."""
    left, top, right, bottom = map(int, box)
    return f"{get_column_letter(left + 1)}{top + 1}:{get_column_letter(right)}{bottom}"


def _fitting(content: str, path: tuple[str, ...], budget: TokenBudget) -> list[Passage]:
    whole = Passage(content.strip("\n"), path)
    return [whole] if budget.fits(whole) else pack(content, budget, path)


def _place(items: Sequence[DocItem], document: DoclingDocument) -> tuple[int | None, int | None, Box | None]:
    """Returns the first page, the last page, and the bounding box on the first page."""
    provenance = [each for item in items for each in item.prov]
    if not provenance:
        return None, None, None
    first, last = min(each.page_no for each in provenance), max(each.page_no for each in provenance)
    page = document.pages.get(first)
    if page is None:
        return first, last, None
    found = [each.bbox.to_top_left_origin(page.size.height) for each in provenance if each.page_no == first]
    left, top = min(box.l for box in found), min(box.t for box in found)
    right, bottom = max(box.r for box in found), max(box.b for box in found)
    return first, last, (round(left, 2), round(top, 2), round(right, 2), round(bottom, 2))
