"""Detects the format of a file, by its content first and its name second."""

from __future__ import annotations

import re
from email.parser import BytesHeaderParser

from contracts.formats import ASCIIDOC, CODE, CODE_NAMES, HTML, LATEX, MARKDOWN, RESTRUCTURED_TEXT, extension
from ingestion.conversion.containers import detect_ole, detect_zip
from ingestion.conversion.errors import CorruptFile, EmptyDocument
from ingestion.conversion.file_format import Format

__all__ = ["Format", "detect"]

BINARY = {
    "pdf": "PDF",
    "docx": "Word",
    "pptx": "PowerPoint",
    "xlsx": "Excel",
    "xlsm": "Excel",
    "xlsb": "Excel",
    "odt": "OpenDocument",
    "odp": "OpenDocument",
    "ods": "OpenDocument",
    "doc": "Word",
    "ppt": "PowerPoint",
    "xls": "Excel",
    "rtf": "Rich Text",
    "epub": "EPUB",
    "msg": "Outlook",
}
ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"GIF87a", b"GIF89a")
HEAD = 8192  # bytes that are searched for markup
# Possessive, because with backtracking each blank before a text doubles the time.
PROLOGUE = rb"\s*+(?:(?:<\?.*?\?>|<!--.*?-->)\s*+)*+"
HTML_START = re.compile(PROLOGUE + rb"<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
# The DTD, or the root of an article as only JATS and its predecessor, the NLM DTD, have it.
JATS_START = re.compile(
    PROLOGUE + rb"(?:<!DOCTYPE\s+article\b[^>]*(?:NLM|JATS)|<article\s[^>]*\b(?:article-type|dtd-version)=)", re.S
)
LATEX_START = re.compile(rb"(?:\s++|%[^\n]*+\n)*+\\document(?:class|style)\b")
BOX_NOTE = re.compile(rb'\s*+\{.{0,2000}?"doc"\s*+:\s*+\{', re.S)
MAIL = ({"from", "date"}, {"from", "message-id"}, {"from", "to", "subject"})
WEB_ARCHIVE = frozenset({"mhtml", "mht"})
NAMES: tuple[tuple[frozenset[str], Format], ...] = (
    (MARKDOWN, Format.markdown),
    (HTML, Format.html),
    (RESTRUCTURED_TEXT, Format.restructured_text),
    (ASCIIDOC, Format.asciidoc),
    (LATEX, Format.latex),
    (frozenset({"csv", "tsv"}), Format.csv),
    (frozenset({"eml"}), Format.email),
    (WEB_ARCHIVE, Format.mhtml),
    (frozenset({"boxnote"}), Format.boxnote),
    (frozenset({"nxml"}) | CODE | CODE_NAMES, Format.code),
)


def detect(data: bytes, file_name: str) -> Format:
    """Returns the format; raises EmptyDocument, CorruptFile, PasswordProtected, InputTooLarge or UnsupportedFormat."""
    if not data.strip():
        raise EmptyDocument("The file is empty.")
    suffix = extension(file_name)
    found = _binary(data, suffix) or _marked_up(data[:HEAD].removeprefix(b"\xef\xbb\xbf"), suffix)
    if found is not None:
        return found
    if suffix in BINARY:
        raise CorruptFile(f"The file is named like a {BINARY[suffix]} document but is not one, or it is damaged.")
    return next((kind for names, kind in NAMES if suffix in names), Format.text)


def _binary(data: bytes, suffix: str) -> Format | None:
    if data.startswith(ZIP):
        return detect_zip(data)
    if data.startswith(OLE):
        return detect_ole(data)
    if data.startswith(b"{\\rtf"):
        return Format.rtf
    if data.startswith(IMAGES) or _is_bitmap(data) or (data.startswith(b"RIFF") and data[8:12] == b"WEBP"):
        return Format.image
    return Format.pdf if _is_pdf(data, suffix) else None


def _is_pdf(data: bytes, suffix: str) -> bool:
    """Returns whether this is a PDF. Its header may be anywhere in the first kilobyte, but a text may mention one."""
    at = data.find(b"%PDF-", 0, 1024)
    return at == 0 or (at > 0 and (suffix == "pdf" or b"%%EOF" in data[-2048:]))


def _is_bitmap(data: bytes) -> bool:
    return data.startswith(b"BM") and len(data) > 26 and data[6:10] == bytes(4)  # reserved bytes, never text


def _marked_up(head: bytes, suffix: str) -> Format | None:
    if suffix in MARKDOWN:
        return None  # Markdown may begin with any markup
    if JATS_START.match(head):
        return Format.jats
    if suffix in CODE | CODE_NAMES:
        return None
    if HTML_START.match(head):
        return Format.html
    if head.startswith(b"WEBVTT"):
        return Format.webvtt
    if LATEX_START.match(head):
        return Format.latex
    if BOX_NOTE.match(head):
        return Format.boxnote
    return _mail(head, suffix) if suffix in {"txt", "text", "eml", "msg", *WEB_ARCHIVE} else None


def _mail(head: bytes, suffix: str) -> Format | None:
    headers = BytesHeaderParser().parsebytes(head)
    names = {name.lower() for name in headers}
    if "snapshot-content-location" in names or (
        suffix in WEB_ARCHIVE and headers.get_content_maintype() == "multipart"
    ):
        return Format.mhtml
    return Format.email if any(needed <= names for needed in MAIL) else None
