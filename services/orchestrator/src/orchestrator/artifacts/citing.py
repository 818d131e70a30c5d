"""Determines which citations a text keeps when a person edits it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.orchestrator import Citation
from orchestrator.artifacts.differences import sentences
from orchestrator.artifacts.markers import MARKER


def kept_citations(before: str, after: str, citations: Sequence[Citation]) -> list[Citation]:
    """Returns the citations whose marker is in a sentence that occurs in both texts."""
    if not citations or before == after:
        return list(citations)
    stayed = set(sentences(before)) & set(sentences(after))
    marked = {int(number) for part in stayed for found in MARKER.findall(part) for number in found.split(",")}
    return [citation for citation in citations if citation.number in marked]
