"""Formats documents, chunks and citations for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from contracts.locations import location
from contracts.orchestrator import Citation, SentenceCheck, SentenceStatus

UNMARKED = {SentenceStatus.verified, SentenceStatus.not_a_claim}
LONGEST_SHOWN = 100


def citation_line(citation: Citation) -> str:
    """Formats a citation: `[1] handbook.pdf, Keys, page 3: “the quote”`."""
    where = location(citation.section, citation.page, citation.line_start, citation.line_end)
    named = f"{citation.document_name}, {where}" if where else citation.document_name
    return f"[{citation.number}] {named}: “{' '.join(citation.quote.split())}”"


def marked(content: str, sentences: Sequence[SentenceCheck]) -> str:
    """Returns an answer with the status after each sentence that makes a claim and is not verified."""
    parts, at = [], 0
    for sentence in sentences:
        parts += [content[at : sentence.start], noted(content[sentence.start : sentence.end], sentence.status)]
        at = sentence.end
    return "".join([*parts, content[at:]])


def noted(sentence: str, status: SentenceStatus) -> str:
    """Returns a sentence or table row, followed by its status unless it is verified or makes no claim."""
    if status in UNMARKED:
        return sentence
    if sentence.startswith("|") and sentence.endswith("|"):
        return f"{sentence[:-1]}({status}) |"
    return f"{sentence} ({status})"


def reason_line(content: str, sentence: SentenceCheck) -> str:
    """Formats a sentence's status: `verified: “the sentence” (the source says so)`."""
    shown = one_line(content[sentence.start : sentence.end], LONGEST_SHOWN)
    attributed = "; the check cited it" if sentence.attributed else ""
    rewritten = f"; rewritten from “{sentence.instead_of}”" if sentence.instead_of else ""
    return f"{sentence.status}: “{shown}” ({sentence.reason}{attributed}{rewritten})"


def one_line(text: str, longest: int) -> str:
    """Returns the text on one line of at most `longest` characters; if it is cut, the last one is an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def size(count: int) -> str:
    """Formats bytes with a decimal prefix."""
    number = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def local_time(at: datetime | None) -> str:
    """Formats a time to the minute, in the machine's time zone."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M") if at else ""
