"""Decodes bytes to text."""

from __future__ import annotations

import codecs

from charset_normalizer import from_bytes

from ingestion.conversion.errors import UnsupportedFormat

BYTE_ORDER_MARKS = (  # longer ones first, because that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTROLS = {chr(code) for code in range(32)} - set("\t\n\r\f\v\b\x1b")
SAMPLE = 256 * 1024  # bytes; enough to detect an encoding


def decode(data: bytes) -> str:
    """Decodes by byte order mark, else as UTF-8, else by the most likely encoding; line ends become `\\n`.

    Raises UnsupportedFormat if the data is not text.
    """
    text = _decode(data).replace("\r\n", "\n").replace("\r", "\n")
    controls = sum(character in CONTROLS for character in text[:SAMPLE])
    if "\x00" in text or controls > 0.05 * min(len(text), SAMPLE):
        raise UnsupportedFormat("This is a binary file of a kind that cannot be read as a document.")
    return text


def _decode(data: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if b"\x00" in data:
            raise UnsupportedFormat("This is a binary file of a kind that cannot be read as a document.") from None
        best = from_bytes(data[:SAMPLE]).best()
        if best is None:
            raise UnsupportedFormat(
                "The text's character encoding could not be recognised; save it as UTF-8."
            ) from None
        return data.decode(best.encoding, errors="replace")
