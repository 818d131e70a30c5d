"""PDFs with known words for the figures of the web UI, and what is marked on their pages.

The words are prose of this project's pages, in six layouts: a long document, one column, two columns (justified and
hyphenated), a table, and a scan of pages that were typeset before. What a rectangle holds is read with pdfium, which
neither the converter nor the viewer uses.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import pypdfium2
import typst
from api_calls import REPOSITORY
from PIL import Image

Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom as shares of the page."""
LONG_PAGES = 200
SCAN_DPI = 150
SENTENCE = re.compile(r"[A-Z][^.!?|\n]{30,180}[.!?](?=\s|$)")
MARKUP = re.compile(r"[`*_#<>\[\]@$~\\]")


def paragraphs() -> list[str]:
    """Returns the paragraphs of the documentation that are plain prose."""
    found = []
    for page in sorted((REPOSITORY / "docs").rglob("*.md")):
        for block in page.read_text(encoding="utf-8").split("\n\n"):
            text = " ".join(block.split())
            if SENTENCE.match(text) and not MARKUP.search(text) and "|" not in text and "://" not in text:
                found.append(text)
    return found


def write(folder: Path) -> dict[str, list[Path]]:
    """Writes the documents; returns them by kind. Those of `scan` have their source beside them (`.source.pdf`)."""
    prose = random.Random(0).sample(paragraphs(), k=len(paragraphs()))
    quarter = len(prose) // 4
    parts = [prose[start : start + quarter] for start in range(0, 4 * quarter, quarter)]
    one = '#set page(paper: "a4")\n#set text(10.5pt)\n'
    two = '#set page(paper: "a4", columns: 2)\n#set text(10pt, lang: "en", hyphenate: true)\n#set par(justify: true)\n'
    cells = "".join(f"[{number}], [{text}], [{_first(text)}],\n" for number, text in enumerate(parts[2], 1))
    table = f"#table(columns: (auto, 2fr, 1fr), [*No.*], [*Statement*], [*In short*],\n{cells})"
    pages = [prose[number % len(prose)] for number in range(12 * LONG_PAGES)]
    long = "".join(
        f"= Part {number + 1}\n\n" + "\n\n".join(pages[12 * number : 12 * number + 12]) + "\n#pagebreak(weak: true)\n"
        for number in range(LONG_PAGES)
    )
    scanned = _typeset(folder / "scan.source.pdf", one + _sections(parts[3]))
    return {
        "native": [_typeset(folder / "native.pdf", one + _sections(parts[0]))],
        "columns": [_typeset(folder / "columns.pdf", two + _sections(parts[1]))],
        "table": [_typeset(folder / "table.pdf", one + table)],
        "scan": [_scanned(scanned, folder / "scan.pdf")],
        "long": [_typeset(folder / "long.pdf", one + "#set text(8pt)\n" + long)],
    }


def sentences(content: str) -> list[tuple[int, int]]:
    """Returns where the sentences of a passage begin and end."""
    return [match.span() for match in SENTENCE.finditer(content)]


def words_in(document: Path, page: int, rectangles: Iterable[Sequence[float]]) -> str:
    """Returns the characters whose middle lies in one of the rectangles, in the document's order."""
    pdf = pypdfium2.PdfDocument(document)
    try:
        sheet = pdf[page - 1]
        width, height = sheet.get_size()
        text = sheet.get_textpage()
        characters = text.get_text_range()
        inside = []
        for index, character in enumerate(characters[: text.count_chars()]):
            left, bottom, right, top = text.get_charbox(index)
            x, y = (left + right) / 2 / width, 1 - (bottom + top) / 2 / height
            if any(one[0] <= x <= one[2] and one[1] <= y <= one[3] for one in rectangles):
                inside.append(character)
        return "".join(inside)
    finally:
        pdf.close()


def likeness(found: str, quote: str) -> float:
    """Returns how alike two texts are, 0 to 1, without spaces and hyphens."""
    return SequenceMatcher(None, _folded(found), _folded(quote), autojunk=False).ratio()


def holds(found: str, quote: str) -> bool:
    """Returns whether most of the quote is in the text."""
    matcher = SequenceMatcher(None, _folded(found), wanted := _folded(quote), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks() if block.size > 3) >= 0.9 * len(wanted)


QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).translate(QUOTES)
    return re.sub(r"[\s\u00ad\u2010-\u2015\ufffe\u0002-]+", "", text).lower()


def _first(text: str) -> str:
    return text.split(". ")[0].rstrip(".") + "."


def _sections(texts: Sequence[str]) -> str:
    return "".join(
        f"= Section {number // 6 + 1}\n\n{text}\n\n" if number % 6 == 0 else f"{text}\n\n"
        for number, text in enumerate(texts)
    )


def _typeset(path: Path, source: str) -> Path:
    path.with_suffix(".typ").write_text(source, encoding="utf-8")
    typst.compile(str(path.with_suffix(".typ")), output=str(path))
    return path


def _scanned(source: Path, path: Path) -> Path:
    """Writes pictures of the pages, in grey, without any text."""
    pdf = pypdfium2.PdfDocument(source)
    pictures: list[Image.Image] = [page.render(scale=SCAN_DPI / 72).to_pil().convert("L") for page in pdf]
    pdf.close()
    pictures[0].save(path, save_all=True, append_images=pictures[1:], resolution=SCAN_DPI)
    return path
