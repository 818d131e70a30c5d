"""Reads the page count and metadata of a PDF before its pages are read."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium

from ingestion.conversion.errors import CorruptFile, PasswordProtected
from ingestion.conversion.metadata import Declared

FILE_NAME = re.compile(
    r"^(microsoft word - |untitled|slide \d)|\.(docx?|tex|dvi|indd|pptx?|qxd|pdf|fm)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PdfFacts:
    pages: int
    declared: Declared


def inspect_pdf(data: bytes) -> PdfFacts:
    """Returns the facts; raises PasswordProtected or CorruptFile."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
            raise PasswordProtected(
                "The PDF is protected by a password; remove the password and upload it again."
            ) from error
        raise CorruptFile("The PDF is damaged or incomplete and cannot be opened.") from error
    try:
        info = document.get_metadata_dict()
        title = info.get("Title", "").strip()
        declared = Declared(
            titles=[] if FILE_NAME.search(title) else [title],  # word processors often write a file name here
            tags=[info.get("Keywords")],
            authors=[info.get("Author")],
            written=[info.get("CreationDate")],
            modified=[info.get("ModDate")],
        )
        return PdfFacts(len(document), declared)
    finally:
        document.close()
