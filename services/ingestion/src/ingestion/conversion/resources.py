"""What the conversions of a process share."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.conversion.language import LanguageDetector
from ingestion.conversion.passages import TokenBudget
from ingestion.conversion.pdf.models import PdfModels


@dataclass(frozen=True, slots=True)
class Resources:
    budget: TokenBudget
    languages: LanguageDetector
    pdf: PdfModels
