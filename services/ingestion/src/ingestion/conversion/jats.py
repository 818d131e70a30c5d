"""What docling asks of a JATS article before it reads it."""

from __future__ import annotations

import re

ROOT = re.compile(rb"<article\b")
DOCTYPE = b'<!DOCTYPE article SYSTEM "JATS-archivearticle1.dtd">\n'
HEAD = 64 * 1024  # bytes in which the article begins


def with_doctype(data: bytes) -> bytes:
    """The article with a document type that names JATS, as docling recognises it by nothing else. It is not loaded."""
    root = ROOT.search(data, 0, HEAD)
    if root is None or b"<!DOCTYPE" in data[: root.start()]:
        return data
    return data[: root.start()] + DOCTYPE + data[root.start() :]
