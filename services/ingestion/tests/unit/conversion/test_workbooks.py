"""Excel's binary workbooks. Both samples are hand-written, following [MS-XLS] and [MS-XLSB]."""

from __future__ import annotations

import io
import struct
import zipfile

import openpyxl
import pytest

from ingestion.conversion.detection import detect
from ingestion.conversion.errors import CorruptFile, EmptyDocument
from ingestion.conversion.file_format import Format
from ingestion.conversion.workbooks import as_xlsx

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ROWS = [("Ship", "Tons"), ("Marlin", 420), ("=Petrel", 0.5)]
VISIBLE, HIDDEN = 0, 1


def xls(visibility: int = VISIBLE) -> bytes:
    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def cell(row: int, column: int, value: str | float) -> bytes:
        at = struct.pack("<HHH", row, column, 0)
        if isinstance(value, str):
            return record(0x0204, at + struct.pack("<HB", len(value), 0) + value.encode("latin-1"))
        return record(0x0203, at + struct.pack("<d", value))

    def begin(kind: int) -> bytes:
        return record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0))

    cells = b"".join(cell(row, column, each) for row, values in enumerate(ROWS) for column, each in enumerate(values))
    end, name = record(0x000A, b""), b"Cargo"
    merged = record(0x00E5, struct.pack("<H4H", 1, 2, 3, 0, 0))
    sheet = begin(0x0010) + record(0x0200, struct.pack("<IIHHH", 0, 3, 0, 2, 0)) + cells + merged + end
    offset = len(begin(0x0005)) + 4 + 8 + len(name) + len(end)
    head = begin(0x0005) + record(0x0085, struct.pack("<IBBBB", offset, visibility, 0, len(name), 0) + name) + end
    return compound("Workbook", head + sheet)


def compound(stream: str, content: bytes) -> bytes:
    """Returns an OLE container ([MS-CFB], version 3) with one stream of eight sectors."""
    last, free = 0xFFFFFFFE, 0xFFFFFFFF
    head = OLE + struct.pack("<16x5H6x9I", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, last, 0, last, 0)
    sectors = [0xFFFFFFFD, last, *range(3, 10), last]

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        text = (name + "\0").encode("utf-16-le")
        return struct.pack("<64sHBB3I36xIQ", text, len(text), kind, 1, free, free, child, start, size)

    table = struct.pack("<128I", *sectors, *[free] * (128 - len(sectors)))
    directory = entry("Root Entry", 5, 1, last, 0) + entry(stream, 2, free, 2, 4096) + bytes(256)
    return head + struct.pack("<109I", 0, *[free] * 108) + table + directory + content.ljust(4096, b"\0")


def xlsb() -> bytes:
    def record(kind: int, body: bytes = b"") -> bytes:
        number = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
        return number + bytes([len(body)]) + body

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    def cell(column: int, value: str | float) -> bytes:
        at = struct.pack("<II", column, 0)
        return record(6, at + text(value)) if isinstance(value, str) else record(5, at + struct.pack("<d", value))

    rows = b"".join(
        record(0, struct.pack("<I", row) + bytes(13)) + b"".join(cell(*each) for each in enumerate(values))
        for row, values in enumerate(ROWS)
    )
    size = struct.pack("<IIII", 0, 2, 0, 1)
    sheet = record(0x81) + record(0x94, size) + record(0x91) + rows + record(0x92) + record(0x82)
    bundle = record(0x9C, struct.pack("<II", VISIBLE, 1) + text("rId1") + text("Cargo"))
    book = record(0x83) + record(0x8F) + bundle + record(0x90) + record(0x84)
    office = "http://schemas.openxmlformats.org"
    kind, target = f"{office}/officeDocument/2006/relationships/worksheet", "worksheets/sheet1.bin"
    relation = f'<Relationship Id="rId1" Type="{kind}" Target="{target}"/>'
    relations = f'<Relationships xmlns="{office}/package/2006/relationships">{relation}</Relationships>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{office}/package/2006/content-types"/>')
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/_rels/workbook.bin.rels", relations)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
    return buffer.getvalue()


@pytest.mark.parametrize(("content", "kind"), [(xls(), Format.xls), (xlsb(), Format.xlsb)])
def test_values_are_kept(content: bytes, kind: Format) -> None:
    assert detect(content, f"cargo.{kind}") is kind
    workbook = openpyxl.load_workbook(io.BytesIO(as_xlsx(content)), data_only=True)
    assert workbook.sheetnames == ["Cargo"]
    assert list(workbook["Cargo"].values)[:3] == ROWS


def test_merged_cells_are_kept() -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(as_xlsx(xls()))).worksheets[0]
    assert [str(each) for each in sheet.merged_cells.ranges] == ["A3:A4"]


def test_hidden_sheets_are_left_out() -> None:
    with pytest.raises(EmptyDocument, match="no visible sheet"):
        as_xlsx(xls(HIDDEN))


@pytest.mark.parametrize("content", [xls()[:900], xlsb()[:300], b""])
def test_a_damaged_workbook_is_refused(content: bytes) -> None:
    with pytest.raises(CorruptFile, match="damaged or incomplete"):
        as_xlsx(content)
