"""Joins lines into paragraphs by spacing, indents and fonts, and classifies the paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from docling_core.types.doc.labels import DocItemLabel

from ingestion.conversion.pdf.lines import Box, TextLine, rows

BULLET = re.compile(r"^\s*([•●▪■◦‣∙·–—*\uf0b7-]|SM590000|\(?[0-9]{1,2}[.)]|\(?[a-z][.)]|[ivx]{1,4}[.)])\s+\S")
NUMBERED_HEADING = re.compile(r"^\s*(\d+(\.\d+){0,4}\.?|[A-Z]\.|[IVX]+\.|Appendix [A-Z]|Chapter \d+)\s+[A-Z]")
CAPTION = re.compile(r"^\s*(Figure|Fig\.|Table|Example|Listing)\s*\d+([.\-:]\d*+)*\s*[.:]?\s", re.IGNORECASE)
LOOK_BACK = 12  # recent paragraphs that a line may continue; enough for a page's columns


@dataclass(frozen=True, slots=True)
class Fragment:
    """Words of one row that belong together."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    bold: bool
    monospaced: bool
    height: float  # mean height of its lines

    @property
    def width(self) -> float:
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class Paragraph:
    fragments: list[Fragment]

    @property
    def box(self) -> Box:
        parts = self.fragments
        return Box(
            min(part.left for part in parts),
            min(part.top for part in parts),
            max(part.right for part in parts),
            max(part.bottom for part in parts),
        )

    @property
    def text(self) -> str:
        return " ".join(part.text for part in self.fragments).strip()

    def label(self, body_height: float) -> DocItemLabel:
        """Classifies the paragraph; body text is `body_height` points high."""
        text, count = self.text, len(self.fragments)
        height = sum(part.height for part in self.fragments) / count
        bold = all(part.bold for part in self.fragments)
        if CAPTION.match(text):
            return DocItemLabel.CAPTION
        if count > 1 and all(part.monospaced for part in self.fragments):
            return DocItemLabel.CODE
        large_or_numbered = height > 1.15 * body_height or (bold and NUMBERED_HEADING.match(text))
        if BULLET.match(text) and not large_or_numbered:
            return DocItemLabel.LIST_ITEM
        if count <= 4 and len(text) < 200 and re.search(r"[^\W\d_]{2}", text):
            bold_heading = bold and count <= 2 and len(text) < 120 and not text.endswith((".", ",", ";"))
            numbered_heading = bold and count == 1 and NUMBERED_HEADING.match(text)
            if height >= 1.18 * body_height or bold_heading or numbered_heading:
                return DocItemLabel.SECTION_HEADER
        return DocItemLabel.TEXT


def paragraphs(lines: Sequence[TextLine]) -> list[Paragraph]:
    """Returns the paragraphs of a page or region, in the order in which they begin."""
    found: list[Paragraph] = []
    for fragment in sorted(_fragments(lines), key=lambda each: each.top):
        above = next((each for each in reversed(found[-LOOK_BACK:]) if _stands_under(fragment, each)), None)
        if above is not None and not _begins_paragraph(fragment, above):
            above.fragments.append(fragment)
        else:
            found.append(Paragraph([fragment]))
    return found


def _fragments(lines: Sequence[TextLine]) -> list[Fragment]:
    groups: list[list[TextLine]] = []
    for row in rows(lines):
        groups.append([row[0]])
        for line in row[1:]:
            before = groups[-1][-1]
            if line.left - before.right < 1.2 * max(line.height, before.height):
                groups[-1].append(line)
            else:
                groups.append([line])
    return [_fragment(group) for group in groups]


def _fragment(group: Sequence[TextLine]) -> Fragment:
    return Fragment(
        left=min(line.left for line in group),
        top=min(line.top for line in group),
        right=max(line.right for line in group),
        bottom=max(line.bottom for line in group),
        text=" ".join(line.text for line in group),
        bold=all(line.bold for line in group),
        monospaced=all(line.monospaced for line in group),
        height=sum(line.height for line in group) / len(group),
    )


def _stands_under(fragment: Fragment, paragraph: Paragraph) -> bool:
    last = paragraph.fragments[-1]
    gap = fragment.top - last.bottom
    overlap = min(fragment.right, last.right) - max(fragment.left, last.left)
    near = -0.6 * fragment.height <= gap <= max(last.height, fragment.height)
    return near and overlap > 0.3 * min(fragment.width, last.width)


def _begins_paragraph(fragment: Fragment, paragraph: Paragraph) -> bool:
    first, last, box = paragraph.fragments[0], paragraph.fragments[-1], paragraph.box
    gap, width = fragment.top - last.bottom, box.right - box.left
    if fragment.monospaced and last.monospaced and gap < 1.2 * fragment.height:
        return False
    other_size = abs(fragment.height - last.height) > 0.18 * max(fragment.height, last.height)
    other_weight = fragment.bold != last.bold and (fragment.bold or len(paragraph.fragments) <= 2)
    listed = BULLET.match(fragment.text) or (CAPTION.match(fragment.text) and not CAPTION.match(first.text))
    indented = (
        fragment.left - box.left > 0.8 * fragment.height
        and last.right < box.right - 0.15 * width
        and not BULLET.match(first.text)
    )
    ended = (
        last.right < box.right - 0.35 * width
        and len(paragraph.fragments) > 1
        and last.text.rstrip().endswith((".", ":", "?", "!"))
    )
    return bool(other_size or other_weight or listed or gap > 0.75 * fragment.height or indented or ended)
