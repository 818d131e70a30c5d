from __future__ import annotations

import pytest

from ingestion.documents.media_types import media_type_of


@pytest.mark.parametrize(
    ("name", "head", "media_type"),
    [
        ("notes.md", b"# Notes", "text/markdown"),
        ("NOTES.MD", b"# Notes", "text/markdown"),
        ("page.html", b"<p>", "text/html"),
        ("report.pdf", b"%PDF-1.7", "application/pdf"),
        ("main.py", b"import os", "text/x-python"),
        ("main.rs", b"fn main", "text/x-rs"),
        ("Dockerfile", b"FROM x", "text/x-dockerfile"),
        ("LICENSE", b"Apache", "text/plain"),
        ("LICENSE", "é".encode() * 4096 + b"\xc3", "text/plain"),
        ("scan", b"%PDF-1.4", "application/pdf"),
        ("blob", b"\x7fELF\x00\x00", None),
        ("blob", b"\xff\xfe\xfd" * 10, None),
        ("setup.exe", b"MZ", None),
        ("archive.zip", b"PK\x03\x04", None),
        ("film.mp4", b"text", None),
    ],
)
def test_the_media_type_is_derived_from_the_file(name: str, head: bytes, media_type: str | None) -> None:
    assert media_type_of(name, head) == media_type
