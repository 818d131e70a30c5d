"""What a reStructuredText file says of itself, and its structured document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docling.utils.code_language import detect_code_language
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.node import NodeItem
from docling_core.types.doc.items.table.table_data import TableCell, TableData
from docling_core.types.doc.labels import DocItemLabel
from docutils import nodes

from ingestion.conversion.restructured.blocks import BULLET, Block, Kind, blocks
from ingestion.conversion.restructured.inline import inline_text
from ingestion.conversion.restructured.parsing import parse

DEEPEST_HEADING = 100  # of docling's


@dataclass(frozen=True, slots=True)
class RestructuredText:
    """`fields` are those at the head of the file, such as `author`, by their names in lower case."""

    blocks: list[Block]
    fields: dict[str, str]
    title: str | None


def read_restructured_text(text: str) -> RestructuredText:
    """Raises UnreadableMarkup."""
    tree = parse(text)
    found, fields = blocks(tree), _fields(tree)
    first = found[0] if found else None
    heading = first.text if first is not None and first.kind is Kind.heading else None
    return RestructuredText(found, fields, fields.get("title") or tree.get("title") or heading)


def _fields(tree: nodes.document) -> dict[str, str]:
    """Before anything else, or directly under the title."""
    children = [child for child in tree.children if not isinstance(child, nodes.Invisible | nodes.system_message)]
    if children and isinstance(children[0], nodes.section):
        children = [child for child in children[0].children if not isinstance(child, nodes.title | nodes.Invisible)]
    if not children or not isinstance(children[0], nodes.field_list):
        return {}
    pairs = (
        (each.children[0].astext().strip().lower(), inline_text(each.children[1])) for each in children[0].children
    )
    return {name: value for name, value in pairs if name and value}


def restructured_document(found: Sequence[Block], name: str) -> DoclingDocument:
    document = DoclingDocument(name=name)
    lists: list[tuple[NodeItem, NodeItem | None]] = []  # the open lists, each with its last item
    for block in found:
        if block.kind is Kind.heading:
            lists.clear()
            document.add_heading(text=block.text, level=min(block.level, DEEPEST_HEADING))
            continue
        if block.kind is Kind.item:
            _add_item(document, block, lists)
            continue
        del lists[block.level :]
        _add(document, block, lists[-1][1] or lists[-1][0] if lists else None)
    return document


def _add_item(document: DoclingDocument, block: Block, lists: list[tuple[NodeItem, NodeItem | None]]) -> None:
    del lists[block.level :]
    while len(lists) < block.level:
        lists.append((document.add_list_group(parent=lists[-1][1] or lists[-1][0] if lists else None), None))
    group = lists[-1][0]
    item = document.add_list_item(block.text, enumerated=block.marker != BULLET, marker=block.marker, parent=group)
    lists[-1] = (group, item)


def _add(document: DoclingDocument, block: Block, parent: NodeItem | None) -> None:
    if block.kind is Kind.code:
        language = detect_code_language(block.text, hint=block.language)
        document.add_code(text=block.text, code_language=language, parent=parent)
    elif block.kind is Kind.formula:
        document.add_formula(text=block.text, parent=parent)
    elif block.kind is Kind.table:
        caption = document.add_text(DocItemLabel.CAPTION, block.text, parent=parent) if block.text else None
        document.add_table(_table_data(block), caption=caption, parent=parent)
    else:
        document.add_text(DocItemLabel.TEXT, block.text, parent=parent)


def _table_data(block: Block) -> TableData:
    cells = [
        TableCell(
            text=cell.text,
            row_span=cell.rows,
            col_span=cell.columns,
            start_row_offset_idx=cell.row,
            end_row_offset_idx=cell.row + cell.rows,
            start_col_offset_idx=cell.column,
            end_col_offset_idx=cell.column + cell.columns,
            column_header=cell.is_header,
        )
        for row in block.cells
        for cell in row
    ]
    rows = max((cell.end_row_offset_idx for cell in cells), default=0)
    columns = max((cell.end_col_offset_idx for cell in cells), default=0)
    return TableData(table_cells=cells, num_rows=rows, num_cols=columns)
