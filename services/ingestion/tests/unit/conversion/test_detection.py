"""Detection of formats, and decoding of bytes to text."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from ingestion.conversion.declared_text import front_matter
from ingestion.conversion.decoding import decode
from ingestion.conversion.detection import Format, detect
from ingestion.conversion.errors import (
    ConversionError,
    CorruptFile,
    EmptyDocument,
    InputTooLarge,
    PasswordProtected,
    UnsupportedFormat,
    conversion_error,
)
from ingestion.conversion.metadata import Declared


def archive(*names: str, **contents: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            file.writestr(name, "x")
        for name, content in contents.items():
            file.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


def office(*parts: str) -> bytes:
    return archive("[Content_Types].xml", *parts)


def container(mime_type: str, *names: str, **contents: str) -> bytes:
    return archive(*names, mimetype=mime_type, **contents)


def compound(stream: str, content: bytes = b"") -> bytes:
    """Returns an OLE container ([MS-CFB], version 3) with one stream of eight sectors."""
    end, free = 0xFFFFFFFE, 0xFFFFFFFF
    head = OLE + struct.pack("<16x5H6x9I", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, end, 0, end, 0)
    sectors = [0xFFFFFFFD, end, *range(3, 10), end]

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        text = (name + "\0").encode("utf-16-le")
        return struct.pack("<64sHBB3I36xIQ", text, len(text), kind, 1, free, free, child, start, size)

    table = struct.pack("<128I", *sectors, *[free] * (128 - len(sectors)))
    directory = entry("Root Entry", 5, 1, end, 0) + entry(stream, 2, free, 2, 4096) + bytes(256)
    return head + struct.pack("<109I", 0, *[free] * 108) + table + directory + content.ljust(4096, b"\0")


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
MAIL = b"From: a@example.org\nTo: b@example.org\nSubject: Ships\n\nHello.\n"
WEB_ARCHIVE = b"From: <Saved by Blink>\nSnapshot-Content-Location: https://example.org\nMIME-Version: 1.0\n\n"
JATS = b'<?xml version="1.0"?>\n<article xmlns:xlink="x" article-type="research-article"><front/></article>'
NAMED_JATS = b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2//EN" "JATS-archivearticle1.dtd"><article></article>'


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"%PDF-1.7 ...", "a.pdf", Format.pdf),
        (b"%PDF-1.7 ...", "a.txt", Format.pdf),
        (b"<html><body>hi</body></html>", "a.pdf", Format.html),
        (b"\xef\xbb\xbf<!DOCTYPE html><p>hi", "page", Format.html),
        (b"<html></html>", "readme.md", Format.markdown),
        (b"A text on %PDF-1.7 headers.", "a.txt", Format.text),
        (b"BMW makes cars.", "a.txt", Format.text),
        (b"PK is a short title", "a.md", Format.markdown),
        (b"GIF89a" + bytes(20), "a.png", Format.image),
        (office("word/document.xml"), "a.bin", Format.docx),
        (office("word/document.xml"), "a.odt", Format.docx),
        (office("ppt/presentation.xml"), "a.pptx", Format.pptx),
        (office("xl/workbook.xml"), "a.xlsx", Format.xlsx),
        (container(f"{OPEN_DOCUMENT}.text", "content.xml"), "a.docx", Format.odt),
        (container(f"{OPEN_DOCUMENT}.spreadsheet", "content.xml"), "a.ods", Format.ods),
        (container(f"{OPEN_DOCUMENT}.presentation", "content.xml"), "a", Format.odp),
        (container("application/epub+zip\n", "content.opf"), "book.zip", Format.epub),
        (b"{\\rtf1 hi}", "a.doc", Format.rtf),
        (compound("WordDocument"), "a.docx", Format.doc),
        (compound("PowerPoint Document"), "a.ppt", Format.ppt),
        (compound("Workbook", b"\x09\x08\x10\x00"), "a", Format.xls),
        (office("xl/workbook.bin"), "a.xlsb", Format.xlsb),
        (office("xl/workbook.xml", "xl/vbaProject.bin"), "a.xlsm", Format.xlsx),
        (compound("__properties_version1.0"), "a.doc", Format.email),
        (MAIL, "a.eml", Format.email),
        (MAIL, "saved.txt", Format.email),
        (MAIL, "a.msg", Format.email),
        (b"PEP: 1\nTitle: x\nAuthor: y\n\nText", "pep.txt", Format.text),
        (WEB_ARCHIVE, "page.mhtml", Format.mhtml),
        (JATS, "a.xml", Format.jats),
        (NAMED_JATS, "a.nxml", Format.jats),
        (b"<article><title>DocBook</title></article>", "a.xml", Format.code),
        (b"WEBVTT\n\n00:00.000 --> 00:01.000\nHi", "a.vtt", Format.webvtt),
        (b"% a comment\n\\documentclass{article}", "a.txt", Format.latex),
        (b"\\section{Part}", "part.tex", Format.latex),
        (b'{"version": 1, "doc": {"type": "doc"}}', "a.boxnote", Format.boxnote),
        (b'{"doc": {"type": "doc"}}', "a.json", Format.code),
        (b"= Title", "a.adoc", Format.asciidoc),
        (b"# Hi", "NOTES.MD", Format.markdown),
        (b"def f(): ...", "a.py", Format.code),
        (b"FROM scratch", "Dockerfile", Format.code),
        (b"all:\n\ttrue", "Makefile", Format.code),
        (b"Words", "notes.rst", Format.restructured_text),
        (b"Words", "LICENSE", Format.text),
        (b"a,b\n1,2", "a.csv", Format.csv),
    ],
)
def test_content_takes_precedence_over_the_file_name(data: bytes, name: str, expected: Format) -> None:
    assert detect(data, name) is expected


@pytest.mark.parametrize(
    ("data", "name", "error"),
    [
        (b"", "a.pdf", EmptyDocument),
        (b" \n", "a.txt", EmptyDocument),
        (b"plain words", "a.pdf", CorruptFile),
        (b"plain words", "a.odt", CorruptFile),
        (b"plain words", "a.epub", CorruptFile),
        (office("word/document.xml")[:40], "a.docx", CorruptFile),
        (archive("word/document.xml"), "a.docx", UnsupportedFormat),
        (container(f"{OPEN_DOCUMENT}.text"), "a.odt", CorruptFile),
        (
            container(f"{OPEN_DOCUMENT}.text", "content.xml", **{"META-INF__manifest.xml": "<encryption-data/>"}),
            "a.odt",
            PasswordProtected,
        ),
        (
            container("application/epub+zip", **{"META-INF__encryption.xml": '<EncryptionMethod Algorithm="aes"/>'}),
            "a.epub",
            PasswordProtected,
        ),
        (container(f"{OPEN_DOCUMENT}.text", **{"content.xml": "0" * (100 << 20)}), "bomb.odt", InputTooLarge),
        (container("application/epub+zip", **{"content.opf": "0" * (100 << 20)}), "bomb.epub", InputTooLarge),
        (archive("readme.txt"), "a.zip", UnsupportedFormat),
        (OLE + bytes(100), "a.doc", CorruptFile),
        (OLE, "a.doc", CorruptFile),
        (compound("EncryptedPackage"), "a.docx", PasswordProtected),
        (compound("WordDocument", bytes(11) + b"\x01"), "a.doc", PasswordProtected),
        (compound("Workbook", b"\x09\x08\x02\x00xx\x2f\x00\x02\x00xx"), "a.xls", PasswordProtected),
        (compound("Something else"), "a.msi", UnsupportedFormat),
    ],
)
def test_unsupported_content_is_refused_with_its_error(data: bytes, name: str, error: type[ConversionError]) -> None:
    with pytest.raises(error):
        detect(data, name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_recognised(encoding: str) -> None:
    text = "Käse, Brötchen und Äpfel für die Größe der Straße. " * 4
    assert decode(text.encode(encoding)) == text


def test_line_endings_are_normalised() -> None:
    assert decode(b"a\r\nb\rc\n") == "a\nb\nc\n"


@pytest.mark.parametrize("data", [b"ab\x00cd", b"\x7fELF\x01\x01\x00\x00", bytes(range(1, 32)) * 10])
def test_binary_content_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedFormat):
        decode(data)


def test_front_matter_is_removed() -> None:
    declared, rest = front_matter("---\ntitle: Ducks\ntags: [a]\n---\n# Hi\n")
    assert (declared.title, rest) == ("Ducks", "# Hi\n")


@pytest.mark.parametrize(
    "text", ["---\nNot a mapping.\n---\nrest", "# Hi\n---\na: b\n---\n", "---\n: [bad\n---\nx", "---"]
)
def test_text_that_merely_resembles_front_matter_is_kept(text: str) -> None:
    assert front_matter(text) == (Declared(), text)


def test_errors_are_transferred_by_their_slug() -> None:
    error = conversion_error("password-protected", "locked")
    assert isinstance(error, PasswordProtected)
    assert str(error) == "locked"
    assert type(conversion_error("unheard-of", "x")) is ConversionError
