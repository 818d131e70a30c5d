"""Conversion of one file of every format without torch."""

from __future__ import annotations

import io
import json
import shutil
import socket
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import odfdo
import openpyxl
import pptx
import pytest
from openpyxl.comments import Comment

from ingestion.conversion import PasswordProtected

Convert = Callable[..., Any]
WORDS = "The harbour office keeps the ledger of all ships that entered the port since the spring of that year."
needs_office = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed")


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def open_text() -> bytes:
    document = odfdo.Document("odt")
    document.body.clear()
    document.body.append(odfdo.Header(1, "Ships"))
    document.body.append(odfdo.Paragraph(WORDS))
    return saved(document.save)


def open_sheet() -> bytes:
    document = odfdo.Document("ods")
    document.body.clear()
    table = odfdo.Table("Cargo")
    table.set_values([["Ship", "Tons"], ["Marlin", 420]])
    document.body.append(table)
    return saved(document.save)


def open_slides() -> bytes:
    document = odfdo.Document("odp")
    document.body.clear()
    page = odfdo.DrawPage("first", name="Plan")
    page.append(
        odfdo.Frame.text_frame(WORDS, size=("10cm", "5cm"), position=("1cm", "1cm"), presentation_class="outline")
    )
    document.body.append(page)
    return saved(document.save)


def book() -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:title>Harbour book</dc:title></metadata><manifest><item id="a" href="a.xhtml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("book.opf", package)
        archive.writestr("a.xhtml", f"<html><body><h1>Ships</h1><p>{WORDS}</p></body></html>")
    return buffer.getvalue()


NOTE = {
    "version": 1,
    "doc": {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": WORDS}]}]},
}
ARTICLE = (
    '<article article-type="research-article"><front><article-meta><title-group><article-title>Ships</article-title>'
    f"</title-group></article-meta></front><body><sec><title>Cargo</title><p>{WORDS}</p></sec></body></article>"
)
MAIL = (
    f"From: Ann <a@example.org>\nTo: b@example.org\nSubject: Ships\nDate: Mon, 6 May 2024 10:00:00 +0000\n\n{WORDS}\n"
)
WEB_ARCHIVE = (
    "From: <Saved by Blink>\nSnapshot-Content-Location: https://example.org/\nSubject: Ships\nMIME-Version: 1.0\n"
    'Content-Type: multipart/related; type="text/html"; boundary="b"\n\n--b\nContent-Type: text/html\n'
    f"Content-Location: https://example.org/\n\n<html><body><h1>Ships</h1><p>{WORDS}</p></body></html>\n--b--\n"
)
SUBTITLES = f"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n{WORDS}\n"
LATEX = f"\\documentclass{{article}}\n\\begin{{document}}\n\\section{{Ships}}\n{WORDS}\n\\end{{document}}\n"
RICH_TEXT = f"{{\\rtf1\\ansi {{\\b Ships}}\\par {WORDS}\\par}}"


@pytest.mark.parametrize(
    ("content", "name", "engine", "expected"),
    [
        (open_text(), "a.odt", "docling/odt", WORDS),
        (open_sheet(), "a.ods", "docling/ods", "Marlin"),
        (open_slides(), "a.odp", "docling/odp", WORDS),
        (book(), "a.epub", "docling/epub", WORDS),
        (MAIL, "a.eml", "docling/email", WORDS),
        (WEB_ARCHIVE, "a.mht", "docling/mhtml", WORDS),
        (json.dumps(NOTE), "a.boxnote", "docling/boxnote", WORDS),
        (ARTICLE, "a.xml", "docling/jats", WORDS),
        (f"= Ships\n\n{WORDS}\n", "a.adoc", "docling/asciidoc", WORDS),
        (LATEX, "a.tex", "docling/latex", WORDS),
        (SUBTITLES, "a.vtt", "docling/webvtt", WORDS),
        (f"Ships\n=====\n\n{WORDS}\n", "a.rst", "docutils", WORDS),
        (WORDS, "a.org", "text", WORDS),
        ("Ship\tTons\nMarlin\t420\n", "a.tsv", "docling/csv", "Marlin"),
    ],
)
def test_each_format_is_converted(
    convert: Convert, content: bytes | str, name: str, engine: str, expected: str
) -> None:
    result = convert(content, name)
    assert result.converted.engine == engine
    assert expected in "\n".join(chunk.content for chunk in result.chunks)
    assert expected in result.markdown


def test_a_renamed_file_is_recognised_by_its_content(convert: Convert) -> None:
    assert convert(open_text(), "a.docx").converted.engine == "docling/odt"
    assert convert(book(), "a.pdf").converted.engine == "docling/epub"


def test_markup_readers_include_no_other_file(convert: Convert, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words")
    for text, name in [
        (f"Words.\n\n.. include:: {secret}\n.. literalinclude:: {secret}\n", "a.rst"),
        (f"Words.\n\n.. csv-table::\n   :file: {secret}\n", "a.rst"),
        (f"= A\n\nWords.\n\ninclude::{secret}[]\n", "a.adoc"),
        (f"\\documentclass{{article}}\\begin{{document}}Words. \\input{{{secret}}}\\end{{document}}", "a.tex"),
        (
            f'<!DOCTYPE article [<!ENTITY x SYSTEM "file://{secret}">]>{ARTICLE.replace("harbour", "harbour &x;")}',
            "a.xml",
        ),
    ]:
        assert "hidden words" not in convert(text, name).markdown


def test_code_in_restructured_text_keeps_its_line_breaks(convert: Convert) -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(200))
    indented = code.replace("\n", "\n    ")
    result = convert(f"Ships\n=====\n\nFirst::\n\n    {indented}\n\nLast.\n", "a.rst")
    assert code in result.markdown
    found = "\n".join(chunk.content for chunk in result.chunks)
    assert [line for line in found.split("\n") if line.startswith("line_")] == code.split("\n")


def test_invalid_markup_is_read_as_plain_text(convert: Convert) -> None:
    result = convert("Words " * 3000, "a.rst")
    assert result.chunks[0].content.startswith("Words")
    assert result.converted.engine == "text"


def test_sheets_comments_and_notes_are_extracted(convert: Convert) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.title = "Cargo"
    workbook.active.append(["Ship", "Tons"])
    workbook.active["A1"].comment = Comment("Who counted these?", "Ann")
    workbook.create_sheet("Crew").append(["Name"])
    found = convert(saved(workbook.save), "a.xlsx")
    assert {chunk.section_title for chunk in found.chunks} == {"Cargo", "Crew"}
    assert "Who counted these?" in found.markdown
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Plan"
    slide.notes_slide.notes_text_frame.text = "Say this slowly."
    assert any("Say this slowly." in chunk.content for chunk in convert(saved(deck.save), "a.pptx").chunks)


@needs_office
def test_rich_text_is_converted_by_libreoffice(convert: Convert) -> None:
    result = convert(RICH_TEXT, "a.rtf")
    assert result.converted.engine == "docling/docx via libreoffice"
    assert any(WORDS in chunk.content for chunk in result.chunks)


@needs_office
def test_libreoffice_opens_no_connection(convert: Convert) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
        convert(f'{{\\rtf1 {WORDS} {{\\field{{\\*\\fldinst INCLUDEPICTURE "{url}"}}}}\\par}}', "a.rtf")
        with pytest.raises(TimeoutError):
            server.accept()


def samples(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("doc-convert/*/sources/*") if path.is_file())


def test_one_file_of_every_format_converts_without_torch(convert: Convert, evaluation_files: Path) -> None:
    assert find_spec("torch") is None
    failed = []
    for source in samples(evaluation_files):
        if source.suffix in {".doc", ".ppt"} and shutil.which("soffice") is None:
            continue
        try:
            result = convert(source, source.name)
        except PasswordProtected:
            assert source.parent.parent.name == "pdf_password"
            continue
        if not result.chunks or not result.markdown.strip():
            failed.append(source.name)
    assert failed == []
