"""Cells of a docutils table."""

from __future__ import annotations

from dataclasses import dataclass

from docutils import nodes

from ingestion.conversion.restructured.inline import inline_text


@dataclass(frozen=True, slots=True)
class Cell:
    """`row` and `column` count from 0."""

    text: str
    row: int
    column: int
    rows: int = 1
    columns: int = 1
    is_header: bool = False


def table_cells(table: nodes.Element) -> tuple[tuple[Cell, ...], ...]:
    """Row by row; a cell that spans rows or columns is in its first row only."""
    found: list[tuple[Cell, ...]] = []
    taken: set[tuple[int, int]] = set()
    for row in _rows(table):
        cells: list[Cell] = []
        column = 0
        for entry in row.children:
            while (len(found), column) in taken:
                column += 1
            rows, columns = entry.get("morerows", 0) + 1, entry.get("morecols", 0) + 1
            text = " ".join(_cell_texts(entry))
            cells.append(Cell(text, len(found), column, rows, columns, isinstance(row.parent, nodes.thead)))
            taken |= {(len(found) + down, column + right) for down in range(rows) for right in range(columns)}
        found.append(tuple(cells))
    return tuple(found)


def _rows(table: nodes.Element) -> list[nodes.Element]:
    """Without those of tables inside its cells."""
    groups = [group for group in table.children if isinstance(group, nodes.tgroup)]
    parts = [part for group in groups for part in group.children if isinstance(part, nodes.thead | nodes.tbody)]
    return [row for part in parts for row in part.children]


def _cell_texts(entry: nodes.Node) -> list[str]:
    if isinstance(entry, nodes.TextElement):
        return [inline_text(entry)]
    return [text for child in entry.children for text in _cell_texts(child)]
