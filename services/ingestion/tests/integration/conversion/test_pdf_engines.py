"""The layout engines of PDF files. Heron's model is replaced by hand-written protocol buffers (onnx.proto)."""

from __future__ import annotations

import ctypes
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from contracts.ingestion import Chunk
from ingestion.conversion import Converted, Converter, EngineUnavailable, Limits, PdfOptions, Setup
from ingestion.conversion.engines import HERON_FOLDER, pdf_engine

Read = Callable[[PdfOptions, bytes], tuple[Converted, list[Chunk]]]
TABLE = [("Ship", "Tons", "Berth"), ("Marlin", "420", "A1"), ("Petrel", "310", "B2"), ("Skua", "95", "C3")]
SENTENCE = "The harbour ledger lists every ship that came in with salt and timber."
FLOAT, INT64 = 1, 7
ATTRIBUTE_INT, ATTRIBUTE_INTS = 2, 7


def detector(labels: list[int]) -> bytes:
    """Returns a model that finds a box the size of the image for each label; confidence is the brightest pixel."""
    count = len(labels)
    nodes = [
        _node("Cast", ["orig_target_sizes"], ["sizes"], _integer("to", FLOAT)),
        _node("Concat", ["corner", "sizes"], ["box"], _integer("axis", 1)),
        _node("Expand", ["box", "boxes_shape"], ["boxes"]),
        _node("ReduceMax", ["images"], ["brightest"], _integer("keepdims", 0)),
        _node("Expand", ["brightest", "scores_shape"], ["scores"]),
        _node("Identity", ["classes"], ["labels"]),
    ]
    constants = [
        _tensor("corner", FLOAT, [1, 2], struct.pack("<2f", 0, 0)),
        _tensor("boxes_shape", INT64, [3], struct.pack("<3q", 1, count, 4)),
        _tensor("scores_shape", INT64, [2], struct.pack("<2q", 1, count)),
        _tensor("classes", INT64, [1, count], struct.pack(f"<{count}q", *labels)),
    ]
    graph = b"".join([
        *(_bytes(1, node) for node in nodes),
        _text(2, "detector"),
        *(_bytes(5, tensor) for tensor in constants),
        _bytes(11, _value("images", FLOAT, [1, 3, 64, 48])),
        _bytes(11, _value("orig_target_sizes", INT64, [1, 2])),
        _bytes(12, _value("labels", INT64, [1, count])),
        _bytes(12, _value("boxes", FLOAT, [1, count, 4])),
        _bytes(12, _value("scores", FLOAT, [1, count])),
    ])  # fmt: skip
    return _number(1, 8) + _bytes(8, _text(1, "") + _number(2, 13)) + _bytes(7, graph)


def _node(kind: str, inputs: list[str], outputs: list[str], *attributes: bytes) -> bytes:
    names = b"".join([*(_text(1, name) for name in inputs), *(_text(2, name) for name in outputs)])
    return names + _text(4, kind) + b"".join(_bytes(5, attribute) for attribute in attributes)


def _integer(name: str, value: int) -> bytes:
    return _text(1, name) + _number(3, value) + _number(20, ATTRIBUTE_INT)


def _tensor(name: str, kind: int, shape: list[int], data: bytes) -> bytes:
    return b"".join(_number(1, size) for size in shape) + _number(2, kind) + _text(8, name) + _bytes(9, data)


def _value(name: str, kind: int, shape: list[int]) -> bytes:
    sizes = b"".join(_bytes(1, _number(1, size)) for size in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes)))


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def pdf_file() -> bytes:
    """Returns a PDF with a heading, a paragraph, a table, and a second page of text."""
    document = pypdfium2.PdfDocument.new()
    first, second = document.new_page(612, 792), document.new_page(612, 792)
    _write(document, first, 24, 72, 700, "Harbour report")
    for line in range(8):
        _write(document, first, 11, 72, 660 - 14 * line, SENTENCE)
    for row, cells in enumerate(TABLE):
        for column, cell in enumerate(cells):
            _write(document, first, 11, 72 + 150 * column, 500 - 16 * row, cell)
    for line in range(8):
        _write(document, second, 11, 72, 700 - 14 * line, "Second page: " + SENTENCE)
    buffer = io.BytesIO()
    for page in (first, second):
        page.gen_content()
    document.save(buffer)
    document.close()
    return buffer.getvalue()


def _write(document: Any, page: Any, size: int, left: int, up: int, text: str) -> None:
    item = pdfium.FPDFPageObj_NewTextObj(document.raw, b"Helvetica", size)
    encoded = text.encode("utf-16-le") + b"\0\0"
    pdfium.FPDFText_SetText(item, ctypes.cast(encoded, ctypes.POINTER(ctypes.c_ushort)))
    pdfium.FPDFPageObj_Transform(item, 1, 0, 0, 1, left, up)
    pdfium.FPDFPage_InsertObject(page.raw, item)


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models as docling downloads it. The stand-in detects each page as one paragraph and as a figure."""
    root = tmp_path_factory.mktemp("artifacts")
    folder = root / HERON_FOLDER
    folder.mkdir()
    (folder / "model.onnx").write_bytes(detector([9, 6]))
    names = {"6": "picture", "9": "text", "7": "section_header"}
    (folder / "config.json").write_text(json.dumps({"id2label": names}))
    preprocessing = {"do_resize": True, "size": {"height": 64, "width": 48}, "resample": 2, "rescale_factor": 1 / 255}
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessing))
    return root


@pytest.fixture
def read(tmp_path: Path) -> Read:
    limits = Limits(seconds=120, memory_bytes=3 << 30, pages=100, input_bytes=50 << 20)

    def run(options: PdfOptions, content: bytes) -> tuple[Converted, list[Chunk]]:
        source = tmp_path / "source"
        source.write_bytes(content)
        with Converter(Setup(pdf=options)) as converter:
            converted = converter.convert(source, "a.pdf", UUID(int=5), tmp_path, limits, lambda _: None)
        rows = (tmp_path / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
        return converted, [Chunk.model_validate_json(row) for row in rows]

    return run


def test_heron_is_used_if_its_model_is_installed(read: Read, artifacts: Path) -> None:
    converted, chunks = read(PdfOptions(artifacts=artifacts), pdf_file())
    assert converted.engine == "docling/heron"
    # The whole page is one paragraph; as a figure, it would have swallowed the page's text.
    assert "Harbour report" in chunks[0].content
    assert SENTENCE in chunks[0].content
    assert chunks[0].box is not None
    assert chunks[0].box[2] > 400
    assert converted.headings == ()


def test_an_unusable_engine_is_refused_at_startup(tmp_path: Path, artifacts: Path) -> None:
    assert pdf_engine(PdfOptions()) == "bundled"
    assert pdf_engine(PdfOptions(artifacts=tmp_path)) == "bundled"
    assert pdf_engine(PdfOptions(artifacts=artifacts)) == "heron"
    assert pdf_engine(PdfOptions("bundled", artifacts)) == "bundled"
    with pytest.raises(EngineUnavailable, match="PDF_ENGINE=heron needs DOCLING_ARTIFACTS"):
        Converter(Setup(pdf=PdfOptions("heron")))
    with pytest.raises(EngineUnavailable, match=r"model\.onnx"):
        Converter(Setup(pdf=PdfOptions("heron", tmp_path)))
    with pytest.raises(EngineUnavailable, match=r"PDF_ENGINE=docling needs torch.*INSTALL_TORCH=1"):
        Converter(Setup(pdf=PdfOptions("docling", artifacts)))
