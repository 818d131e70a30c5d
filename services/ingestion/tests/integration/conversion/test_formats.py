"""Conversion of one file of every format, in the real conversion process."""

from __future__ import annotations

import io
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import docx
import openpyxl
import pptx
import pytest
from PIL import Image, ImageDraw, ImageFont

from inference.tokens import count_tokens, load_minilm_tokenizer
from ingestion.conversion import Converter, EmptyDocument, embedding_text

Convert = Callable[..., Any]
DOCUMENT = UUID(int=2)
WORDS = "The harbour office keeps the ledger of all ships that entered the port since the spring of that year."


def word_document() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Port rules"
    document.add_heading("Ships", 1)
    document.add_paragraph(WORDS)
    document.add_heading("Cargo", 2)
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Ship", "Tons", "Marlin", "420"], strict=True):
        cell.text = text
    return saved(document.save)


def slides() -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Harbour plan"
    slide.placeholders[1].text = WORDS
    return saved(deck.save)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["Ship", "Tons"])
    book.active.append(["Marlin", 420])
    return saved(book.save)


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def pdf(*pages: list[tuple[int, int, str]]) -> bytes:
    """Returns a PDF of native text; a page is a list of (font size, distance from the bottom in points, text)."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
    ]
    for number, page in enumerate(pages):
        stream = "\n".join(f"BT /F1 {size} Tf 72 {height} Td ({text}) Tj ET" for size, height, text in page)
        fonts = f"<< /Font << /F1 {3 + 2 * count} 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * number} 0 R /Resources {fonts} >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + f"xref\n0 {size}\n0000000000 65535 f \n{table}" + trailer).encode()


def scan() -> bytes:
    image = Image.new("RGB", (1200, 500), "white")
    font = ImageFont.load_default(size=44)
    ImageDraw.Draw(image).text((60, 120), "The harbour ledger of ships", fill="black", font=font)
    return saved(lambda buffer: image.save(buffer, "PNG"))


MARKDOWN = f"""---
title: From the front matter
---

# Harbour *book* for `ships`

{WORDS}

## Code

```python
def enter(port):

    return port.  berth   # spacing stays
```

| Ship | Tons |
|------|------|
| Marlin | 420 |
"""
HTML = (
    f"<html><head><title>Harbour &amp; port</title></head><body><h1>Ships</h1><p>{WORDS}</p>"
    "<h2>Cargo</h2><p>Salt and timber.</p><script>var hidden = 1</script></body></html>"
)
PDF = pdf(
    [(24, 700, "Harbour report"), *[(11, 650 - 14 * line, WORDS[:80]) for line in range(12)]],
    [(24, 700, "Timber"), *[(11, 650 - 14 * line, "Second page about timber and salt.") for line in range(12)]],
)


def test_markdown_is_converted(convert: Convert) -> None:
    result = convert(MARKDOWN, "book.md")
    assert result.converted.title == "Harbour book for ships"
    assert result.converted.engine == "docling/markdown"
    code = next(chunk for chunk in result.chunks if "def enter" in chunk.content)
    assert "def enter(port):\n\n    return port.  berth   # spacing stays" in code.content
    assert code.heading_path == ["Harbour book for ships", "Code"]
    assert code.section_title == "Code"
    assert "front matter" not in result.markdown
    assert any("| Marlin | 420 |" in chunk.content for chunk in result.chunks)


def test_a_paragraph_with_code_and_bold_words_stays_one_sentence(convert: Convert) -> None:
    text = "Tokens carry scopes such as `routes:read` and `bookings:write`. **Both** expire."
    assert convert(f"# Head\n\n{text}\n", "a.md").chunks[0].content == text
    html = "<p>It has the role <code>engineer</code>, which can read.</p><ul><li>Run <code>make</code>.</li></ul>"
    content = "\n".join(chunk.content for chunk in convert(html, "a.html").chunks)
    assert "the role `engineer`, which" in content
    assert "Run `make`." in content


def test_a_long_paragraph_with_code_is_split(convert: Convert) -> None:
    found = convert("# Head\n\n" + "It says `yes` and goes on at some length. " * 60, "a.md").chunks
    assert len(found) > 1
    assert all(chunk.content.startswith("It says `yes` and") for chunk in found)


def test_html_is_converted(convert: Convert) -> None:
    result = convert(HTML, "page.html")
    assert result.converted.title == "Harbour & port"
    assert [chunk.heading_path for chunk in result.chunks] == [["Ships"], ["Ships", "Cargo"]]
    assert not any("hidden" in chunk.content for chunk in result.chunks)


def test_docx_is_converted(convert: Convert) -> None:
    result = convert(word_document(), "rules.docx")
    assert result.converted.title == "Port rules"
    assert any("Marlin" in chunk.content and chunk.section_title == "Cargo" for chunk in result.chunks)


def test_a_pdf_has_pages_and_boxes_and_reports_progress(convert: Convert) -> None:
    result = convert(PDF, "report.pdf")
    assert result.converted.pages == 2
    assert result.converted.engine == "docling/rapid-layout"
    assert result.converted.title == "Harbour report"
    second = next(chunk for chunk in result.chunks if "Second page" in chunk.content)
    assert (second.page, second.page_end) == (2, 2)
    left, top, right, bottom = second.box
    assert 60 < left < right < 612
    assert 100 < top < bottom < 400
    assert {step.page for step in result.progress if step.stage == "convert"} >= {None, 2}


def test_each_line_of_a_pdf_has_its_page_and_place(convert: Convert) -> None:
    lines = ["The harbour office keeps a ledger of ships,", "and its keeper counts them every spring again."]
    split = pdf([(11, 100, lines[0])], [(11, 700, lines[1])])
    chunks = convert(split, "split.pdf").chunks
    found = [(box, chunk.content[box.start : box.end]) for chunk in chunks for box in chunk.boxes]
    assert [(box.page, text) for box, text in found] == [(1, lines[0].rstrip(",")), (2, lines[1].rstrip("."))]
    for box, baseline in zip([one for one, _ in found], (792 - 100, 792 - 700), strict=True):
        left, top, right, bottom = box.box
        assert 70 < left < 74
        assert 200 < right < 400
        assert top < baseline < bottom + 1


def test_text_in_an_image_is_recognised(convert: Convert) -> None:
    result = convert(scan(), "scan.png")
    assert "ledger" in result.chunks[0].content


def test_a_line_of_an_image_has_the_place_at_which_it_was_recognised(convert: Convert) -> None:
    chunk = convert(scan(), "scan.png").chunks[0]
    (line,) = chunk.boxes
    assert "ledger" in chunk.content[line.start : line.end]
    left, top, right, bottom = line.box
    assert left < 80 < 500 < right
    assert 100 < top < 140 < bottom < 190


@pytest.mark.parametrize(
    ("content", "name", "cells"), [(slides(), "plan.pptx", None), (workbook(), "tons.xlsx", "A1:B2")]
)
def test_slides_and_sheets_are_converted(convert: Convert, content: bytes, name: str, cells: str | None) -> None:
    result = convert(content, name)
    assert result.converted.pages == 1
    assert result.chunks[0].page == 1
    assert (result.chunks[0].box, result.chunks[0].cells) == (None, cells)


def test_csv_is_converted(convert: Convert) -> None:
    assert "Marlin" in convert("Ship,Tons\nMarlin,420\n", "tons.csv").chunks[0].content


def test_plain_text_and_restructured_text_are_converted(convert: Convert) -> None:
    result = convert(f"Harbour\n=======\n\n{WORDS}\n\nCargo\n-----\n\nSalt.\n", "book.rst")
    assert result.converted.title == "Harbour"
    assert [chunk.heading_path for chunk in result.chunks] == [["Harbour"], ["Harbour", "Cargo"]]
    assert convert(WORDS, "words.txt").chunks[0].content == WORDS


@pytest.mark.parametrize(
    "name",
    [
        "a.py",
        "a.js",
        "a.ts",
        "a.jsx",
        "a.tsx",
        "a.java",
        "a.go",
        "a.rs",
        "a.c",
        "a.h",
        "a.cpp",
        "a.hpp",
        "a.cs",
        "a.rb",
        "a.php",
        "a.sh",
        "a.sql",
        "a.yaml",
        "a.yml",
        "a.toml",
        "a.json",
        "a.ini",
        "a.cfg",
        "a.css",
        "a.proto",
        "a.tf",
        "Dockerfile",
        "Makefile",
    ],
)
def test_source_code_is_converted(convert: Convert, name: str) -> None:
    text = "first = 1\n\nsecond = 2\n"
    result = convert(text, name)
    assert result.converted.engine == "code"
    assert result.chunks[0].content == text.strip()
    assert (result.chunks[0].line_start, result.chunks[0].line_end) == (1, 3)


@pytest.mark.parametrize(
    ("content", "name"), [(MARKDOWN * 9, "a.md"), (HTML, "a.html"), (PDF, "a.pdf"), (WORDS * 60, "a.txt")]
)
def test_chunks_fit_the_limit_are_unique_and_reproducible(convert: Convert, content: bytes | str, name: str) -> None:
    tokenizer = load_minilm_tokenizer()
    first, second = convert(content, name), convert(content, name)
    assert first.chunks == second.chunks
    assert len({chunk.chunk_id for chunk in first.chunks}) == len(first.chunks)
    assert [chunk.chunk_index for chunk in first.chunks] == list(range(len(first.chunks)))
    for chunk in first.chunks:
        tokens = count_tokens(tokenizer, embedding_text(chunk.heading_path, chunk.content)) + 2
        assert tokens == chunk.token_count <= 256


@pytest.mark.parametrize(
    "name", ["md/sources/duck.md", "html/sources/wiki_duck.html", "pdf/sources/amt_handbook_sample.pdf"]
)
def test_chunks_cover_the_document(convert: Convert, evaluation_files: Path, name: str) -> None:
    source = evaluation_files / "doc-convert" / name
    result = convert(source, source.name)
    known = set(re.findall(r"\w+", " ".join([*(" ".join([*c.heading_path, c.content]) for c in result.chunks)])))
    words = re.findall(r"\w+", re.sub(r"\]\([^)]*\)|<!--.*?-->", "", result.markdown))
    missing = [word for word in words if word not in known]
    assert len(missing) <= 0.01 * len(words), missing[:50]


@pytest.mark.parametrize(
    "name",
    [
        "md/sources/duck.md",
        "md/sources/mixed.md",
        "html/sources/wiki_duck.html",
        "docx/sources/tablecell.docx",
        "pdf/sources/amt_handbook_sample.pdf",
        "csv/sources/csv-pipe.csv",
        "pptx/sources/powerpoint_with_image.pptx",
        "odf/sources/text_document_01.odt",
        "epub/sources/epub_purvis_poetry.epub",
        "asciidoc/sources/asciidoc_03.asciidoc",
    ],
)
def test_each_passage_stands_in_the_markdown_of_its_document(
    convert: Convert, evaluation_files: Path, name: str
) -> None:
    source = evaluation_files / "doc-convert" / name
    result = convert(source, source.name)
    placed = [chunk for chunk in result.chunks if chunk.markdown_start is not None]
    assert len(placed) >= 0.99 * len(result.chunks)
    assert placed == sorted(placed, key=lambda chunk: chunk.markdown_start)
    differently = 0
    for chunk in placed:
        own = letters(chunk.content)
        shown = letters(result.markdown[chunk.markdown_start : chunk.markdown_end])
        assert shown[:24] in own  # a part of a table repeats the header, which stands elsewhere
        assert own.endswith(shown[-24:])
        differently += not own.endswith(shown)
    assert differently <= 0.02 * len(placed)


@pytest.mark.parametrize("name", ["a.txt", "a.py"])
def test_a_passage_of_a_text_stands_there_letter_by_letter(convert: Convert, name: str) -> None:
    text = "\n\n".join(f"def number_{number}():\n    return {number}  # {WORDS}" for number in range(40))
    result = convert(text, name)
    assert len(result.chunks) > 3
    for chunk in result.chunks:
        assert result.markdown[chunk.markdown_start : chunk.markdown_end] == chunk.content


def test_the_rows_of_a_long_csv_file_stand_in_its_table_each_once(convert: Convert) -> None:
    rows = [f"Ship {number},{number * 7},{WORDS}" for number in range(60)]
    result = convert("\n".join(["Name,Tons,Remark", *rows]), "ships.csv")
    assert len(result.chunks) > 5
    shown = [result.markdown[chunk.markdown_start : chunk.markdown_end] for chunk in result.chunks]
    assert re.findall(r"Ship \d+", " ".join(shown)) == [f"Ship {number}" for number in range(60)]
    assert [("Remark" in text) for text in shown] == [True] + [False] * (len(shown) - 1)


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def test_nul_and_surrogates_are_removed(convert: Convert, tmp_path: Path) -> None:
    result = convert("# A&#0;b\n\nA text with &#xD800; and &#0; in it.\n", "a.md")
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "output").iterdir())
    assert result.chunks
    assert "\x00" not in written
    assert "\\u0000" not in written
    assert "\\ud800" not in written.lower()


@pytest.mark.parametrize(
    ("content", "name"), [("---\na: b\n---\n", "a.md"), ("<html><p> </p></html>", "a.html"), (pdf([]), "a.pdf")]
)
def test_a_document_without_text_is_empty(convert: Convert, content: bytes | str, name: str) -> None:
    with pytest.raises(EmptyDocument, match="No text"):
        convert(content, name)


def test_converting_a_document_makes_no_request(convert: Convert) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{port}/x.png"
        convert(
            f'<html><head><link href="{url}"></head><p>{WORDS}</p><img src="{url}"><iframe src="{url}"></html>',
            "a.html",
        )
        convert(f"# Hi\n\n![x]({url})\n\n<img src='{url}'>\n", "a.md")
        with pytest.raises(TimeoutError):
            server.accept()


def test_several_threads_convert_at_once(converter: Converter, convert: Convert, limits: Any, tmp_path: Path) -> None:
    source = tmp_path / "a.md"
    source.write_text(MARKDOWN)
    done: list[int] = []

    def work(number: int) -> None:
        output = tmp_path / str(number)
        output.mkdir()
        for _ in range(3):
            done.append(converter.convert(source, "a.md", DOCUMENT, output, limits, lambda _: None).chunks)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [convert(MARKDOWN, "a.md").converted.chunks] * 12
