"""Texts of the notes of an exported artifact, and Markdown footnotes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from contracts.locations import location
from contracts.orchestrator import Citation
from orchestrator.artifacts.markers import MARKER

LONGEST_QUOTE = 400  # characters
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
CODE = re.compile(r"`[^`\n]{0,1000}`")


def note(citation: Citation) -> str:
    """Returns the title, the place and the quote of a citation on one line."""
    where = location(citation.section, citation.page, citation.line_start, citation.line_end)
    named = ", ".join(filter(None, (citation.document_title or citation.document_name, where)))
    quote = " ".join(citation.quote.split())
    if len(quote) > LONGEST_QUOTE:
        quote = quote[:LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    return f"{named}: “{quote}”" if quote else named


def notes(citations: Sequence[Citation]) -> dict[int, str]:
    """Returns the notes by their number."""
    return {citation.number: note(citation) for citation in citations}


def with_footnotes(text: str, by_number: Mapping[int, str]) -> str:
    """Returns Markdown with a footnote for each marker of a known citation outside code, otherwise unchanged."""
    used: set[int] = set()

    def footnotes(marker: re.Match[str]) -> str:
        numbers = [int(number) for number in marker[1].split(",")]
        after = marker.string[marker.end() : marker.end() + 1]
        if after in {"(", ":", "["} or not all(number in by_number for number in numbers):
            return marker[0]
        used.update(numbers)
        return "".join(f"[^source-{number}]" for number in numbers)

    lines, fence = [], ""
    for line in text.splitlines(keepends=True):
        opened = FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened:
            fence = opened[1]
        elif not line.startswith(("    ", "\t")):
            line = _outside_code(line, footnotes)
        lines.append(line)
    if not used:
        return text
    body = "".join(lines).rstrip("\n")
    return body + "\n\n" + "".join(f"[^source-{number}]: {_plain(by_number[number])}\n" for number in sorted(used))


def _outside_code(line: str, replace: Callable[[re.Match[str]], str]) -> str:
    found, end = [], 0
    for code in CODE.finditer(line):
        found += [MARKER.sub(replace, line[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*found, MARKER.sub(replace, line[end:])])


def _plain(text: str) -> str:
    """Returns the text with Markdown markup escaped."""
    return re.sub(r"([\\`*_\[\]<>#|~$])", r"\\\1", text)
