"""Blocks as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ingestion.conversion.restructured.blocks import Block, Kind

DEEPEST_HEADING = 6
FENCE = re.compile(r"^`{3,}", re.M)


def restructured_markdown(found: Sequence[Block]) -> str:
    """Headings begin at the second level, as those of other formats; the first is for the title of a document."""
    parts = [_markdown(block) for block in found]
    joints = [separator(before, block) for before, block in pairwise(found)]
    return "".join(part for pair in zip(parts, [*joints, ""], strict=True) for part in pair) if found else ""


def separator(before: Block, block: Block) -> str:
    return "\n" if before.kind is block.kind is Kind.item else "\n\n"


def _markdown(block: Block) -> str:
    if block.kind is Kind.heading:
        return f"{'#' * min(block.level + 1, DEEPEST_HEADING)} {block.text}"
    if block.kind is Kind.code:
        indent = "  " * block.level
        fence = "`" * max([3, *(len(found[0]) + 1 for found in FENCE.finditer(block.text))])
        lines = [f"{fence}{block.language or ''}", *block.text.split("\n"), fence]
        return "\n".join(f"{indent}{line}".rstrip() for line in lines)
    return block_text(block)


def block_text(block: Block) -> str:
    """Of anything but a heading. Code is as in the file."""
    if block.kind is Kind.table:
        return "\n".join([*([block.text] if block.text else []), *_rows(block)])
    if block.kind is Kind.code:
        return block.text
    indent = "  " * (block.level - 1 if block.kind is Kind.item else block.level)
    marker = f"{block.marker} " if block.kind is Kind.item else ""
    text = f"$${block.text}$$" if block.kind is Kind.formula else block.text
    return indent + marker + text.replace("\n", "\n" + indent)


def _rows(block: Block) -> list[str]:
    """In Markdown; a cell that spans others is repeated in none of them."""
    width = max((cell.column + cell.columns for row in block.cells for cell in row), default=0)
    rows = []
    for row in block.cells:
        texts = [""] * width
        for cell in row:
            texts[cell.column] = cell.text.replace("|", "\\|")
        rows.append(f"| {' | '.join(texts)} |")
    return [*rows[:1], "|" + " - |" * width, *rows[1:]]
