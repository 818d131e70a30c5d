"""Names content from the web, with an extension that fits its type."""

from __future__ import annotations

from email.message import Message
from urllib.parse import unquote, urlsplit

from contracts.formats import HTML, MEDIA_TYPES, extension, has_extension
from ingestion.documents.file_names import safe_name

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
# Types that servers send when they do not know; then the name in the URL decides.
VAGUE_TYPES = frozenset({"application/octet-stream", "binary/octet-stream", "application/x-download", "text/plain"})
FURTHER_TYPES = {
    "text/xml": "xml",
    "text/plain": "txt",
    "text/x-markdown": "md",
    "application/json": "json",
    "application/javascript": "js",
    "application/x-pdf": "pdf",
    "application/x-yaml": "yaml",
    "text/rtf": "rtf",
    "image/jpeg": "jpg",
    "image/tiff": "tif",
}
EXTENSIONS = {media_type: suffix for suffix, media_type in reversed(MEDIA_TYPES.items())} | FURTHER_TYPES


def content_name(url: str, media_type: str | None, disposition: str) -> str | None:
    """Returns a file name, or None for an unsupported format. `disposition` is Content-Disposition, or empty."""
    name = _name_in(disposition) or _name_in_path(url)
    given = extension(name) if has_extension(name) else ""
    if media_type in HTML_TYPES:
        return name if given in HTML else f"{name}.html"
    if given in MEDIA_TYPES and (media_type is None or media_type in VAGUE_TYPES or media_type == MEDIA_TYPES[given]):
        return name
    if media_type in EXTENSIONS:
        return _as_text(name, given, media_type)
    textual = (media_type or "").startswith(("text/", "application/x-"))
    return name if (given in MEDIA_TYPES and textual) or (media_type is None and not given) else None


def titled_name(name: str, title: str | None) -> str:
    """Replaces the name from a page's URL by its title, with the same extension."""
    if title is None:
        return name
    return safe_name(f"{title.replace('/', '-').replace(chr(92), '-')}.{extension(name)}".encode(errors="replace"))


def _as_text(name: str, given: str, media_type: str) -> str:
    """Keeps the extension of README.md if it is served as another text type; otherwise the type decides."""
    if media_type.startswith("text/") and MEDIA_TYPES.get(given, "").startswith("text/"):
        return name
    return f"{name}.{EXTENSIONS[media_type]}"


def _name_in(disposition: str) -> str | None:
    if not disposition:
        return None
    message = Message()
    message["Content-Disposition"] = disposition.replace("\r", " ").replace("\n", " ")
    found = message.get_filename()
    return safe_name(found.encode(errors="replace")) if found else None


def _name_in_path(url: str) -> str:
    parts = urlsplit(url)
    last = parts.path.rstrip("/").rsplit("/", 1)[-1]
    return safe_name(unquote(last, errors="replace").encode()) if last else safe_name((parts.hostname or "").encode())
