"""What a file is, and how its bytes become text."""

from __future__ import annotations

import io
import zipfile

import pytest

from ingestion.conversion.decoding import decode
from ingestion.conversion.detection import Format, detect
from ingestion.conversion.errors import (
    ConversionError,
    CorruptFile,
    EmptyDocument,
    PasswordProtected,
    UnsupportedFormat,
    conversion_error,
)
from ingestion.conversion.markdown import split_front_matter


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"%PDF-1.7 ...", "a.pdf", Format.pdf),
        (b"%PDF-1.7 ...", "a.txt", Format.pdf),
        (b"<html><body>hi</body></html>", "a.pdf", Format.html),
        (b"\xef\xbb\xbf<!DOCTYPE html><p>hi", "page", Format.html),
        (b"<html></html>", "readme.md", Format.markdown),
        (archive("word/document.xml"), "a.bin", Format.docx),
        (archive("ppt/presentation.xml"), "a.pptx", Format.pptx),
        (archive("xl/workbook.xml"), "a.xlsx", Format.xlsx),
        (b"# Hi", "NOTES.MD", Format.markdown),
        (b"def f(): ...", "a.py", Format.code),
        (b"FROM scratch", "Dockerfile", Format.code),
        (b"all:\n\ttrue", "Makefile", Format.code),
        (b"Words", "notes.rst", Format.text),
        (b"Words", "LICENSE", Format.text),
        (b"a,b\n1,2", "a.csv", Format.csv),
    ],
)
def test_content_decides_before_the_name(data: bytes, name: str, expected: Format) -> None:
    assert detect(data, name) is expected


@pytest.mark.parametrize(
    ("data", "name", "error"),
    [
        (b"", "a.pdf", EmptyDocument),
        (b" \n", "a.txt", EmptyDocument),
        (b"plain words", "a.pdf", CorruptFile),
        (archive("word/document.xml")[:40], "a.docx", CorruptFile),
        (archive("readme.txt"), "a.zip", UnsupportedFormat),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "a.docx", PasswordProtected),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", UnsupportedFormat),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, name: str, error: type[ConversionError]) -> None:
    with pytest.raises(error):
        detect(data, name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_recognised(encoding: str) -> None:
    text = "Käse, Brötchen und Äpfel für die Größe der Straße. " * 4
    assert decode(text.encode(encoding)) == text


def test_line_ends_become_one_kind() -> None:
    assert decode(b"a\r\nb\rc\n") == "a\nb\nc\n"


@pytest.mark.parametrize("data", [b"ab\x00cd", b"\x7fELF\x01\x01\x00\x00", bytes(range(1, 32)) * 10])
def test_binary_content_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedFormat):
        decode(data)


def test_front_matter_is_taken_off() -> None:
    assert split_front_matter("---\ntitle: Ducks\ntags: [a]\n---\n# Hi\n") == ("Ducks", "# Hi\n")


@pytest.mark.parametrize(
    "text", ["---\nNot a mapping.\n---\nrest", "# Hi\n---\na: b\n---\n", "---\n: [bad\n---\nx", "---"]
)
def test_what_only_looks_like_front_matter_stays(text: str) -> None:
    assert split_front_matter(text) == (None, text)


def test_errors_travel_by_their_slug() -> None:
    error = conversion_error("password-protected", "locked")
    assert isinstance(error, PasswordProtected)
    assert str(error) == "locked"
    assert type(conversion_error("unheard-of", "x")) is ConversionError
