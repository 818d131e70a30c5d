"""Which format a file has: by its content first, then by its name."""

from __future__ import annotations

import io
import re
import zipfile
from enum import StrEnum

from contracts.formats import CODE, CODE_NAMES, HTML, MARKDOWN, extension
from ingestion.conversion.errors import CorruptFile, EmptyDocument, PasswordProtected, UnsupportedFormat


class Format(StrEnum):
    pdf = "pdf"
    image = "image"
    docx = "docx"
    pptx = "pptx"
    xlsx = "xlsx"
    html = "html"
    markdown = "markdown"
    csv = "csv"
    code = "code"
    text = "text"


BINARY = {"pdf": "PDF", "docx": "Word", "pptx": "PowerPoint", "xlsx": "Excel"}
ZIP_PARTS = {"word/": Format.docx, "ppt/": Format.pptx, "xl/": Format.xlsx}
IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"BM")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
HTML_START = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)


def detect(data: bytes, file_name: str) -> Format:
    """Raises EmptyDocument, CorruptFile, PasswordProtected or UnsupportedFormat."""
    if not data.strip():
        raise EmptyDocument("The file is empty.")
    suffix = extension(file_name)
    if b"%PDF-" in data[:1024]:
        return Format.pdf
    if data.startswith(b"PK"):
        return _detect_zip(data)
    if data.startswith(OLE):
        raise _ole_error(data)
    if data.startswith(IMAGES) or (data.startswith(b"RIFF") and data[8:12] == b"WEBP"):
        return Format.image
    if HTML_START.match(data[:4096].removeprefix(b"\xef\xbb\xbf")) and suffix not in MARKDOWN | CODE:
        return Format.html
    if suffix in BINARY:
        raise CorruptFile(f"The file is named like a {BINARY[suffix]} document but is not one, or it is damaged.")
    return _by_name(suffix)


def _by_name(suffix: str) -> Format:
    if suffix in MARKDOWN:
        return Format.markdown
    if suffix in HTML:
        return Format.html
    if suffix in {"csv", "tsv"}:
        return Format.csv
    return Format.code if suffix in CODE | CODE_NAMES else Format.text


def _detect_zip(data: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise CorruptFile("The file is damaged or incomplete: its ZIP container cannot be opened.") from error
    for part, kind in ZIP_PARTS.items():
        if any(name.startswith(part) for name in names):
            return kind
    raise UnsupportedFormat("ZIP archives are not read; upload the files inside it one by one.")


def _ole_error(data: bytes) -> PasswordProtected | UnsupportedFormat:
    if ENCRYPTED_OFFICE in data:
        return PasswordProtected("The document is protected by a password; remove the password and upload it again.")
    return UnsupportedFormat("Office formats from before 2007 are not read; save the file as .docx, .pptx or .xlsx.")
