"""Converts Excel's binary workbooks, .xls and .xlsb, to .xlsx without LibreOffice."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from io import BytesIO

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.worksheet.worksheet import Worksheet
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from ingestion.conversion.errors import CorruptFile, EmptyDocument

LONGEST_CELL = 32_767  # characters; Excel's own limit

Value = int | float | str | bool | time | date | datetime | timedelta


def as_xlsx(data: bytes) -> bytes:
    """Returns the visible sheets as .xlsx, with values and merged cells. Raises CorruptFile or EmptyDocument."""
    workbook = Workbook()
    workbook.remove(workbook.worksheets[0])
    try:
        source = CalamineWorkbook.from_filelike(BytesIO(data))
        for about in source.sheets_metadata:
            if about.typ is SheetTypeEnum.WorkSheet and about.visible is SheetVisibleEnum.Visible:
                _copy(source.get_sheet_by_name(about.name), workbook.create_sheet(about.name))
    except (CalamineError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CorruptFile(f"The workbook is damaged or incomplete ({reason or 'no reason given'}).") from error
    if not workbook.worksheets:
        raise EmptyDocument("The workbook has no visible sheet.")
    output = BytesIO()
    workbook.save(output)
    return output.getvalue()


def _copy(source: CalamineSheet, sheet: Worksheet) -> None:
    for number, row in enumerate(source.iter_rows(), start=1):
        for column, value in enumerate(row, start=1):
            if value != "":
                cell = sheet.cell(number, column, _value(value))
                if cell.data_type == "f":
                    cell.data_type = "s"  # text that begins like a formula
    for (top, left), (bottom, right) in source.merged_cell_ranges or []:
        sheet.merge_cells(start_row=top + 1, start_column=left + 1, end_row=bottom + 1, end_column=right + 1)


def _value(value: Value) -> Value:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return ILLEGAL_CHARACTERS_RE.sub("", value)[:LONGEST_CELL] if isinstance(value, str) else value
