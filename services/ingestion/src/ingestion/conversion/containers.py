"""Detects the format of ZIP and OLE containers, and refuses encrypted files and bombs."""

from __future__ import annotations

import io
import re
import zipfile

import olefile

from ingestion.conversion.errors import (
    ConversionError,
    CorruptFile,
    InputTooLarge,
    PasswordProtected,
    UnsupportedFormat,
)
from ingestion.conversion.file_format import Format

OFFICE_PARTS = {"word/": Format.docx, "ppt/": Format.pptx, "xl/": Format.xlsx}
MIME_TYPES = {
    b"application/epub+zip": Format.epub,
    b"application/vnd.oasis.opendocument.text": Format.odt,
    b"application/vnd.oasis.opendocument.text-template": Format.odt,
    b"application/vnd.oasis.opendocument.presentation": Format.odp,
    b"application/vnd.oasis.opendocument.presentation-template": Format.odp,
    b"application/vnd.oasis.opendocument.spreadsheet": Format.ods,
    b"application/vnd.oasis.opendocument.spreadsheet-template": Format.ods,
}
LONGEST_MIME_TYPE = 100  # bytes
LARGEST_MEMBER = 512 << 20  # bytes of one member, unpacked; a reader could not hold more in its memory
UNPACKED_BYTES = 2 << 30
SUSPECT_RATIO = 500  # DEFLATE reaches 1032; text written by people stays far below
SUSPECT_BYTES = 64 << 20
EPUB_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")  # obfuscated, not encrypted
ALGORITHM = re.compile(rb"EncryptionMethod[^>]*Algorithm=[\"']([^\"']*)")
PASSWORD = "The document is protected by a password; remove the password and upload it again."  # noqa: S105  not one
FIB_ENCRYPTED = 0x01  # bit of byte 11 of a Word document's first block ([MS-DOC] 2.5.2)
FILEPASS_RECORD = b"\x2f\x00"  # [MS-XLS] 2.4.117; only BOF and a few short records come before it


def detect_zip(data: bytes) -> Format:
    """Returns the format; raises CorruptFile, PasswordProtected, InputTooLarge or UnsupportedFormat."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _refuse_bombs(archive)
            return _zip_format(archive)
    except ConversionError:
        raise
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError, KeyError) as error:
        raise CorruptFile("The file is damaged or incomplete: its ZIP container cannot be opened.") from error


def _refuse_bombs(archive: zipfile.ZipFile) -> None:
    """Raises InputTooLarge. Declared sizes can be trusted here, because reading stops at them."""
    total = 0
    for member in archive.infolist():
        total += member.file_size
        packed = member.file_size > SUSPECT_RATIO * max(member.compress_size, 1) and member.file_size > SUSPECT_BYTES
        if packed or member.file_size > LARGEST_MEMBER or total > UNPACKED_BYTES:
            size = max(member.file_size, total) >> 20
            raise InputTooLarge(f"Unpacked, the content of the file has at least {size} MB, which is too much.")


def _zip_format(archive: zipfile.ZipFile) -> Format:
    names = set(archive.namelist())
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= LONGEST_MIME_TYPE:
        found = MIME_TYPES.get(archive.read("mimetype").strip())
        if found is Format.epub:
            return _readable_epub(archive, names)
        if found is not None:
            return _readable_open_document(archive, names, found)
    if "[Content_Types].xml" in names:
        if "xl/workbook.bin" in names:
            return Format.xlsb
        for part, kind in OFFICE_PARTS.items():
            if any(name.startswith(part) for name in names):
                return kind
    raise UnsupportedFormat("This kind of ZIP archive is not read as a document; upload the files inside it.")


def _readable_epub(archive: zipfile.ZipFile, names: set[str]) -> Format:
    if "META-INF/encryption.xml" in names:
        methods = ALGORITHM.findall(archive.read("META-INF/encryption.xml"))
        if any(method not in EPUB_FONTS for method in methods):
            raise PasswordProtected("The book is encrypted (DRM) and cannot be read.")
    return Format.epub


def _readable_open_document(archive: zipfile.ZipFile, names: set[str], kind: Format) -> Format:
    if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise PasswordProtected(PASSWORD)
    if "content.xml" not in names:
        raise CorruptFile("The file is damaged or incomplete: the OpenDocument container has no content.")
    return kind


def detect_ole(data: bytes) -> Format:
    """Returns the format; raises CorruptFile, PasswordProtected or UnsupportedFormat."""
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            return _ole_format(container)
    except ConversionError:
        raise
    except (OSError, ValueError, IndexError, TypeError, AttributeError, EOFError) as error:
        raise CorruptFile("The file is damaged or incomplete: its OLE container cannot be opened.") from error


def _ole_format(container: olefile.OleFileIO) -> Format:
    streams = {path[0] for path in container.listdir()}
    if streams & {"EncryptedPackage", "EncryptedSummary"}:
        raise PasswordProtected(PASSWORD)
    if "__properties_version1.0" in streams:
        return Format.email
    if "WordDocument" in streams:
        if (_head(container, "WordDocument", 12)[11:] or b"\x00")[0] & FIB_ENCRYPTED:
            raise PasswordProtected(PASSWORD)
        return Format.doc
    if "PowerPoint Document" in streams:
        return Format.ppt
    for name in streams & {"Workbook", "Book"}:
        if _has_password_record(_head(container, name, 4096)):
            raise PasswordProtected(PASSWORD)
        return Format.xls
    raise UnsupportedFormat("This kind of OLE container (an older Office or installer file) is not read.")


def _head(container: olefile.OleFileIO, name: str, size: int) -> bytes:
    with container.openstream(name) as stream:
        found: bytes = stream.read(size)
    return found


def _has_password_record(head: bytes) -> bool:
    """Scans the records of a workbook's globals: each has a two-byte type, a two-byte length and a body."""
    at = 0
    while at + 4 <= len(head):
        kind, length = head[at : at + 2], int.from_bytes(head[at + 2 : at + 4], "little")
        if kind == FILEPASS_RECORD:
            return True
        at += 4 + length
    return False
