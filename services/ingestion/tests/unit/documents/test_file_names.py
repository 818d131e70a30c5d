from __future__ import annotations

import pytest

from ingestion.documents.file_names import MAX_CHARACTERS, NAMELESS, attachment, safe_name


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"report.pdf", "report.pdf"),
        (b"../../etc/passwd", "passwd"),
        (b"C:\\Users\\ann\\notes.md", "notes.md"),
        ("Grüße aus Köln 東京.md".encode(), "Grüße aus Köln 東京.md"),
        (b"a\x00b\r\nc\x7f.md", "abc.md"),
        ("evil\u202efdp.exe.md".encode(), "evilfdp.exe.md"),
        (b"  spaced.md  ", "spaced.md"),
        (b"caf\xe9.md", "caf\ufffd.md"),
        ("cafe\u0301.md".encode(), "café.md"),
        (b"", NAMELESS),
        (b"..", NAMELESS),
        (b"folder/", NAMELESS),
        (b".gitignore", ".gitignore"),
    ],
)
def test_control_characters_are_removed_from_a_name(raw: bytes, name: str) -> None:
    assert safe_name(raw) == name


def test_a_long_name_keeps_its_extension() -> None:
    name = safe_name(("x" * 500 + ".docx").encode())
    assert len(name) == MAX_CHARACTERS
    assert name.endswith(".docx")


def test_a_name_cannot_inject_into_the_content_disposition() -> None:
    header = attachment('a"; filename=evil.html\\ é.md')
    assert header.startswith('attachment; filename="a__ filename=evil.html_ _.md"; ')
    assert header.endswith("filename*=UTF-8''a%22%3B%20filename%3Devil.html%5C%20%C3%A9.md")
    assert header.isascii()
