"""Docling as a plain loop in one process: reads and exports, then chunks. Prints the seconds of each, per file.

python tests/benchmarks/bare_docling.py THREADS < files.json

Markdown stands in for reStructuredText, which Docling does not read. PDF files are read with the product's models, kept
from file to file, because Docling's own need torch.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from io import BytesIO
from pathlib import Path

from docling.datamodel.document import InputDocument
from docling.datamodel.pipeline_options import ConvertPipelineOptions
from docling.pipeline.simple_pipeline import SimplePipeline
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker

from ingestion.conversion.detection import detect
from ingestion.conversion.docling_formats import BACKENDS, PAGED, backend, with_doctype
from ingestion.conversion.file_format import Format
from ingestion.conversion.passages import token_budget
from ingestion.conversion.pdf.models import PdfModels
from ingestion.conversion.structured import _BudgetTokenizer
from ingestion.conversion.values import ChunkOptions, PdfOptions


def convert(path: Path, models: PdfModels, chunker: HybridChunker) -> tuple[float, float]:
    """Returns the seconds until the document was exported, and until it was chunked."""
    began = time.perf_counter()
    data = path.read_bytes()
    kind = detect(data, path.name)
    if kind not in BACKENDS:
        kind = Format.markdown
    if kind is Format.jats:
        data = with_doctype(data)
    source = InputDocument(BytesIO(data), format=BACKENDS[kind][0], backend=backend(kind), filename=path.name)
    pipeline = models.pipeline(kind is Format.image) if kind in PAGED else SimplePipeline(ConvertPipelineOptions())
    document = pipeline.execute(source, raises_on_error=True).document
    document.export_to_markdown()
    json.dumps(document.export_to_dict())
    exported = time.perf_counter() - began
    list(chunker.chunk(document))
    return exported, time.perf_counter() - began


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    models = PdfModels(PdfOptions(engine="bundled"), int(sys.argv[1]))
    tokenizer = _BudgetTokenizer(budget=token_budget(ChunkOptions()))
    chunker = HybridChunker(tokenizer=tokenizer)
    for kind in BACKENDS:
        backend(kind)
    print(json.dumps({name: convert(Path(name), models, chunker) for name in json.load(sys.stdin)}))


if __name__ == "__main__":
    main()
