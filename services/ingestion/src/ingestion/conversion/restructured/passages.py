"""Passages along the blocks of a reStructuredText file, each with its lines in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from ingestion.conversion.packing import pack
from ingestion.conversion.passages import Passage, TokenBudget
from ingestion.conversion.restructured.blocks import Block, Kind
from ingestion.conversion.restructured.markdown import block_text, separator

Path = tuple[str, ...]


def restructured_passages(found: Sequence[Block], budget: TokenBudget) -> list[Passage]:
    """Section by section, as many blocks in each as fit. A section that holds nothing is a passage of its title."""
    passages: list[Passage] = []
    for headings, inside, following in _sections(found):
        path = budget.capped([heading.text for heading in headings])
        if inside:
            passages += _packed(inside, path, budget)
        elif headings and not (following and following.level > headings[-1].level):
            title = headings[-1]
            passages += [replace(each, line_start=title.line_start, line_end=title.line_end)
                         for each in pack(title.text, budget, path[:-1])]  # fmt: skip
    return passages


def _sections(found: Sequence[Block]) -> Iterator[tuple[list[Block], list[Block], Block | None]]:
    """The headings above, the blocks below, and the heading that follows."""
    starts = [0, *(index for index, block in enumerate(found) if block.kind is Kind.heading), len(found)]
    path: list[Block] = []
    for start, end in pairwise(starts):
        inside = list(found[start:end])
        if inside and inside[0].kind is Kind.heading:
            heading = inside.pop(0)
            path = [*(above for above in path if above.level < heading.level), heading]
        yield list(path), inside, found[end] if end < len(found) else None


def _packed(inside: Sequence[Block], path: Path, budget: TokenBudget) -> Iterator[Passage]:
    room = budget.room(path)
    open_: list[tuple[Block, str]] = []
    size = 0
    for block, following in zip_longest(inside, inside[1:]):
        text = block_text(block)
        tokens = budget.size(text)
        introduces = following is not None and block.text.endswith(":") and following.kind is not Kind.text
        beside = tokens + (budget.size(block_text(following)) if introduces and following is not None else 0)
        if open_ and (size + tokens > room or (size + beside > room and beside <= room)):
            yield from _joined(open_, path, budget)
            open_, size = [], 0
        if tokens > room:
            yield from _divided(block, text, path, budget)
        else:
            open_.append((block, text))
            size += tokens
    if open_:
        yield from _joined(open_, path, budget)


def _joined(parts: Sequence[tuple[Block, str]], path: Path, budget: TokenBudget) -> Iterator[Passage]:
    content = parts[0][1]
    for (before, _), (block, text) in pairwise(parts):
        content += separator(before, block) + text
    starts = [block.line_start for block, _ in parts if block.line_start]
    ends = [block.line_end for block, _ in parts if block.line_end]
    lines = (min(starts), max(ends)) if starts and ends else (None, None)
    passage = Passage(content, path, line_start=lines[0], line_end=lines[1])
    if budget.fits(passage):
        yield passage
    else:  # the estimate of long words counts the whole
        yield from (replace(each, line_start=lines[0], line_end=lines[1]) for each in pack(content, budget, path))


def _divided(block: Block, text: str, path: Path, budget: TokenBudget) -> Iterator[Passage]:
    """A block that is longer than a passage. Where its text is that of the file, each part has its own lines."""
    if block.kind is Kind.table:
        yield from _divided_table(block, text, path, budget)
    elif block.verbatim:
        yield from pack(block.text, budget, path, block.line_start)
    else:
        for part in pack(text, budget, path):
            yield replace(part, line_start=block.line_start, line_end=block.line_end)


def _divided_table(block: Block, text: str, path: Path, budget: TokenBudget) -> Iterator[Passage]:
    """By rows, under the header each time."""
    lines = text.split("\n")
    at = next(index for index, line in enumerate(lines) if line.startswith("|"))
    header, rows = "\n".join(lines[: at + 2]), lines[at + 2 :]
    room = budget.room(path) - budget.size(header)
    parts: list[list[str]] = [[]]
    for row in rows:
        if parts[-1] and budget.size("\n".join([*parts[-1], row])) > room:
            parts.append([])
        parts[-1].append(row)
    for part in parts:
        passage = Passage("\n".join([header, *part]), path)
        for each in [passage] if budget.fits(passage) else pack(passage.content, budget, path):
            yield replace(each, line_start=block.line_start, line_end=block.line_end)
