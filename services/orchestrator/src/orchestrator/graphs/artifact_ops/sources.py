"""What the markers of an artifact stand for: the citations that it has, under their numbers, then new passages.

The prompt gives a model both under these numbers. Pure, and slow enough to be called in a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from orchestrator.citations.assess import assess
from orchestrator.citations.check import MarkerFilter, check
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.wording import WordLikeness
from orchestrator.graphs.conversation.passages import citation_of, sources_of
from orchestrator.graphs.conversation.state import Cited, FoundChunk


@dataclass(frozen=True)
class CitedText:
    """A text with the citations that its markers name; `removed` counts the markers that it lost."""

    text: str
    citations: list[dict[str, Any]]
    removed: int = 0


@dataclass(frozen=True)
class ArtifactSources:
    """`kept` are the citations of the artifact by their numbers, `passages` what the markers behind these name."""

    kept: dict[int, dict[str, Any]]
    passages: Sequence[FoundChunk]
    alike: WordLikeness

    @classmethod
    def of(
        cls, citations: Sequence[dict[str, Any]], passages: Sequence[FoundChunk], alike: WordLikeness
    ) -> ArtifactSources:
        return cls({one["number"]: one for one in citations}, passages, alike)

    @property
    def chunks(self) -> list[FoundChunk]:
        """All of them by their numbers, from 1; a number that no citation has is an empty one."""
        most = max(self.kept, default=0)
        return [*(_chunk(self.kept.get(number)) for number in range(1, most + 1)), *self.passages]

    def named_in(self, text: str) -> ArtifactSources:
        """Returns them with those citations alone that a text names; all keep their numbers."""
        named = {number: one if f"[{number}]" in text else {} for number, one in self.kept.items()}
        return ArtifactSources(named, self.passages, self.alike)

    def filter(self) -> MarkerFilter:
        return MarkerFilter(sources_of(self.chunks, self.alike))

    def whole(self, text: str, cited: Sequence[CitedSpan]) -> CitedText:
        """Checks the markers of a whole text, which `filter` has numbered anew."""
        chunks = self.chunks
        checked = check(text, cited, [chunk["content"] for chunk in chunks])
        found = assess(checked, sources_of(chunks, self.alike))
        return CitedText(found.content, [self._citation(one, chunks) for one in found.cited], found.removed)

    def spliced(self, text: str) -> CitedText:
        """Checks the markers of a part, which keep the numbers that the model was given: the rest is not touched."""
        markers = self.filter()
        filtered = markers.feed(text) + markers.end()
        passage_of = {one.number: one.passage for one in markers.cited}
        pieces, at = list[str](), 0
        for marker in markers.markers:
            numbers = dict.fromkeys(passage_of[number] for number in marker.numbers)
            pieces += [filtered[at : marker.start], *(f"[{number}]" for number in numbers)]
            at = marker.end
        pieces.append(filtered[at:])
        chunks, most = self.chunks, max(self.kept, default=0)
        new = {one.passage: one for one in markers.cited if one.passage > most}
        citations = [{**self._citation(one, chunks), "number": number} for number, one in new.items()]
        return CitedText("".join(pieces), citations, markers.removed)

    def of_text(self, text: str, new: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns those of the citations, kept and new, that a text still names."""
        every = {**self.kept, **{one["number"]: one for one in new}}
        return [one for number, one in sorted(every.items()) if f"[{number}]" in text]

    def _citation(self, cited: CitedSpan, chunks: Sequence[FoundChunk]) -> dict[str, Any]:
        """A kept citation lies within its quote, which lies in its chunk."""
        told = citation_of(cast(Cited, asdict(cited)), chunks[cited.passage - 1]).model_dump(mode="json")
        if kept := self.kept.get(cited.passage):
            told |= {"start": told["start"] + kept["start"], "end": told["end"] + kept["start"]}
        return told


def _chunk(citation: dict[str, Any] | None) -> FoundChunk:
    """Returns what a citation quotes, as if it had been found."""
    told = citation or {}
    return FoundChunk(
        chunk_id=told.get("chunk_id", ""),
        document_id=told.get("document_id", ""),
        document_name=told.get("document_name", ""),
        document_title=told.get("document_title"),
        section=told.get("section"),
        page=told.get("page"),
        line_start=told.get("line_start"),
        line_end=told.get("line_end"),
        score=1.0,
        content=told.get("quote", ""),
        highlights=[],
    )
