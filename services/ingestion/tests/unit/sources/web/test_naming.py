"""The names of fetched content."""

from __future__ import annotations

import pytest

from ingestion.sources.web.naming import content_name, titled_name

SITE = "https://example.org"


@pytest.mark.parametrize(
    ("path", "media_type", "disposition", "expected"),
    [
        ("/", "text/html", "", "example.org.html"),
        ("/guide/", "text/html", "", "guide.html"),
        ("/a.html", "text/html", "", "a.html"),
        ("/a.htm", "application/xhtml+xml", "", "a.htm"),
        ("/view.php?id=1", "text/html", "", "view.php.html"),
        ("/paper.pdf", "text/html", "", "paper.pdf.html"),
        ("/paper.pdf", "application/pdf", "", "paper.pdf"),
        ("/download?id=3", "application/pdf", "", "download.pdf"),
        ("/download", "application/pdf", 'attachment; filename="The paper.pdf"', "The paper.pdf"),
        ("/download", "application/pdf", "attachment; filename*=UTF-8''%C3%9Cber.pdf", "Über.pdf"),
        ("/x", "application/pdf", "attachment; filename=../../etc/passwd", "passwd.pdf"),
        ("/README.md", "text/plain", "", "README.md"),
        ("/README.md", "text/markdown", "", "README.md"),
        ("/notes", "text/plain", "", "notes.txt"),
        ("/a.py", "text/x-python", "", "a.py"),
        ("/a.docx", "application/octet-stream", "", "a.docx"),
        ("/a.bin", "application/octet-stream", "", None),
        ("/a", "application/octet-stream", "", None),
        ("/a.mp4", "video/mp4", "", None),
        ("/feed", "application/rss+xml", "", None),
        ("/a.json", "application/json", "", "a.json"),
        ("/api", "application/json", "", "api.json"),
        ("/a", None, "", "a"),
        ("/a.csv", None, "", "a.csv"),
        ("/%C3%BCber%20uns", "text/html", "", "über uns.html"),
    ],
)
def test_the_extension_follows_the_content(
    path: str, media_type: str | None, disposition: str, expected: str | None
) -> None:
    assert content_name(SITE + path, media_type, disposition) == expected


def test_a_title_becomes_the_name() -> None:
    assert titled_name("guide.html", "TCP/IP: a guide") == "TCP-IP: a guide.html"
    assert titled_name("guide.html", "a \ud800 b\0") == "a ? b.html"
    assert titled_name("guide.html", None) == "guide.html"
