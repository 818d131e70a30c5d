"""Infers the structure of a table from the positions of the lines in its region."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import ClassVar

from docling.datamodel.base_models import Cluster, Page, Table, TableStructurePrediction
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import BaseTableStructureOptions
from docling.models.base_table_model import BaseTableStructureModel
from docling_core.types.doc.base import BoundingBox, CoordOrigin
from docling_core.types.doc.items.table.table_data import TableCell
from docling_core.types.doc.labels import DocItemLabel

from ingestion.conversion.pdf.lines import TextLine, enclosing_box, page_size, rows, text_lines

TABULAR = {DocItemLabel.TABLE, DocItemLabel.DOCUMENT_INDEX}
Span = tuple[float, float]


class LineTableOptions(BaseTableStructureOptions):
    kind: ClassVar[str] = "line_table"


class LineTableModel(BaseTableStructureModel):
    """Docling's table engine interface. No cell spans others; the first row is the header."""

    def __init__(self, options: LineTableOptions) -> None:
        self.enabled = True
        self.options = options

    @classmethod
    def get_options_type(cls) -> type[LineTableOptions]:
        return LineTableOptions

    def predict_tables(
        self,
        conv_res: ConversionResult,  # noqa: ARG002  Docling's argument
        pages: Sequence[Page],
    ) -> list[TableStructurePrediction]:
        predictions = []
        for page in pages:
            prediction = TableStructurePrediction()
            found = page.predictions.layout.clusters if page.predictions.layout else []
            for cluster in found:
                if cluster.label in TABULAR:
                    prediction.table_map[cluster.id] = _table(page, cluster)
            predictions.append(prediction)
        return predictions


def _table(page: Page, cluster: Cluster) -> Table:
    table_rows = rows(text_lines(cluster.cells, page_size(page).height))
    columns = _columns(table_rows) or [(cluster.bbox.l, cluster.bbox.r)]
    grid: dict[tuple[int, int], list[TextLine]] = defaultdict(list)
    for row, lines in enumerate(table_rows):
        for line in lines:
            grid[row, _column_of(line, columns)].append(line)
    return Table(
        otsl_seq=[],
        num_rows=len(table_rows),
        num_cols=len(columns),
        table_cells=[_cell(row, column, lines) for (row, column), lines in sorted(grid.items())],
        id=cluster.id,
        page_no=page.page_no,
        cluster=cluster,
        label=cluster.label,
    )


def _columns(table_rows: Sequence[Sequence[TextLine]]) -> list[Span]:
    """Returns the horizontal ranges that lines cover; only those of the fullest rows if there are three or more."""
    most = max((len(row) for row in table_rows), default=1)
    full = [row for row in table_rows if len(row) == most]
    columns: list[Span] = []
    for left, right in sorted(_spans(full if len(full) >= 3 else table_rows)):
        if columns and left < columns[-1][1] - 0.5:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _spans(table_rows: Iterable[Iterable[TextLine]]) -> list[Span]:
    return [(line.left, line.right) for row in table_rows for line in row]


def _column_of(line: TextLine, columns: Sequence[Span]) -> int:
    def overlap(number: int) -> float:
        return min(line.right, columns[number][1]) - max(line.left, columns[number][0])

    return max(range(len(columns)), key=overlap)


def _cell(row: int, column: int, lines: Sequence[TextLine]) -> TableCell:
    box = enclosing_box(lines)
    return TableCell(
        text=" ".join(line.text.strip() for line in lines),
        row_span=1,
        col_span=1,
        start_row_offset_idx=row,
        end_row_offset_idx=row + 1,
        start_col_offset_idx=column,
        end_col_offset_idx=column + 1,
        column_header=row == 0,
        bbox=BoundingBox(l=box.left, t=box.top, r=box.right, b=box.bottom, coord_origin=CoordOrigin.TOPLEFT),
    )
