"""Which files are accepted, by name and first bytes, and the media type that they are stored under."""

from __future__ import annotations

from ingestion.conversion.detection import CODE, CODE_NAMES, HTML, MARKDOWN, extension

OFFICE = "application/vnd.openxmlformats-officedocument"
TEXT = frozenset({"txt", "text", "log", "rst", "adoc", "asciidoc", "org", "tex"})
MEDIA_TYPES = {
    "pdf": "application/pdf",
    "docx": f"{OFFICE}.wordprocessingml.document",
    "pptx": f"{OFFICE}.presentationml.presentation",
    "xlsx": f"{OFFICE}.spreadsheetml.sheet",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "json": "application/json",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "sql": "application/sql",
    "css": "text/css",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "cjs": "text/javascript",
    "py": "text/x-python",
    **dict.fromkeys(MARKDOWN, "text/markdown"),
    **dict.fromkeys(HTML, "text/html"),
    **dict.fromkeys(TEXT, "text/plain"),
}
SUPPORTED = tuple(sorted({*MEDIA_TYPES, *CODE}))


def media_type_of(name: str, head: bytes) -> str | None:
    """None when the format is not supported. `head` is the file's first kilobytes: it decides without an extension."""
    suffix = extension(name)
    if suffix in MEDIA_TYPES:
        return MEDIA_TYPES[suffix]
    if suffix in CODE | CODE_NAMES:
        return f"text/x-{suffix}"
    if "." in name.strip("."):
        return None
    if head.startswith(b"%PDF-"):
        return MEDIA_TYPES["pdf"]
    return "text/plain" if _is_text(head) else None


def _is_text(head: bytes) -> bool:
    """UTF-8 without NUL; the last character may be cut."""
    try:
        head[: max(len(head) - 3, 0)].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 6:
            return False
    return b"\x00" not in head
