"""Resolves the markers of an artifact: first its existing citations, under their numbers, then new passages.

The prompt lists both under these numbers. Pure, but slow enough to be called in a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, cast

from orchestrator.citations.assess import assess
from orchestrator.citations.check import MarkerFilter, check
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.wording import WordLikeness
from orchestrator.graphs.conversation.passages import boxes_within, citation_of, sources_of
from orchestrator.graphs.conversation.state import Cited, FoundChunk

CitedPlace: TypeAlias = tuple[int, int, int]  # the number of a passage, and characters of it


@dataclass(frozen=True)
class CitedText:
    """A text with the citations of its markers; `removed` counts the markers that were removed."""

    text: str
    citations: list[dict[str, Any]]
    removed: int = 0


@dataclass(frozen=True)
class ArtifactSources:
    """`kept` are the artifact's citations by number; higher numbers refer to `passages`."""

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
        """Returns all of them by number, from 1; a number without a citation has an empty chunk."""
        most = max(self.kept, default=0)
        return [*(_chunk(self.kept.get(number)) for number in range(1, most + 1)), *self.passages]

    def named_in(self, text: str) -> ArtifactSources:
        """Returns them with only the citations that a text uses; all keep their numbers."""
        named = {number: one if f"[{number}]" in text else {} for number, one in self.kept.items()}
        return ArtifactSources(named, self.passages, self.alike)

    def filter(self) -> MarkerFilter:
        return MarkerFilter(sources_of(self.chunks, self.alike))

    def whole(self, text: str, cited: Sequence[CitedSpan]) -> CitedText:
        """Checks the markers of a complete text, which `filter` has renumbered."""
        chunks = self.chunks
        checked = check(text, cited, [chunk["content"] for chunk in chunks])
        found = assess(checked, sources_of(chunks, self.alike))
        return CitedText(found.content, [self._citation(one, chunks) for one in found.cited], found.removed)

    def spliced(self, text: str, numbers: dict[CitedPlace, int] | None = None) -> CitedText:
        """Checks a part's sentences and markers; existing citations keep their numbers, as the rest is unchanged.

        `numbers` are those given to new citations in other parts, and get those of this one.
        """
        numbers = {} if numbers is None else numbers
        markers = self.filter()
        filtered = markers.feed(text) + markers.end()
        chunks, most = self.chunks, max(self.kept, default=0)
        contents = [chunk["content"] for chunk in chunks]
        found = assess(check(filtered, markers.cited, contents), sources_of(chunks, self.alike))
        placed = check(found.content, found.cited, contents)
        own, citations = dict[int, int](), list[dict[str, Any]]()
        for one in placed.cited:
            if one.passage <= most:
                own[one.number] = one.passage
                continue
            place = one.passage, one.start, one.end
            if place not in numbers:
                taken = numbers.values()
                numbers[place] = one.passage if one.passage not in taken else max(len(chunks), *taken) + 1
            own[one.number] = numbers[place]
            citations.append({**self._citation(one, chunks), "number": numbers[place]})
        pieces, at = list[str](), 0
        for marker in placed.markers:
            renumbered = dict.fromkeys(own[number] for number in marker.numbers)
            pieces += [placed.content[at : marker.start], *(f"[{number}]" for number in renumbered)]
            at = marker.end
        pieces.append(placed.content[at:])
        return CitedText("".join(pieces), citations, markers.removed + found.removed)

    def of_text(self, text: str, new: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the citations, kept and new, that a text still uses."""
        every = {**self.kept, **{one["number"]: one for one in new}}
        return [one for number, one in sorted(every.items()) if f"[{number}]" in text]

    def _citation(self, cited: CitedSpan, chunks: Sequence[FoundChunk]) -> dict[str, Any]:
        """Returns the citation; a kept one is within its quote, which is within its chunk."""
        found = citation_of(cast(Cited, asdict(cited)), chunks[cited.passage - 1]).model_dump(mode="json")
        if kept := self.kept.get(cited.passage):
            start, end = found["start"] + kept["start"], found["end"] + kept["start"]
            found |= {"start": start, "end": end, "boxes": boxes_within(kept.get("boxes", ()), start, end)}
        return found


def _chunk(citation: dict[str, Any] | None) -> FoundChunk:
    """Returns a citation's quote as if a search had found it."""
    values = citation or {}
    return FoundChunk(
        chunk_id=values.get("chunk_id", ""),
        document_id=values.get("document_id", ""),
        document_name=values.get("document_name", ""),
        document_title=values.get("document_title"),
        section=values.get("section"),
        page=values.get("page"),
        line_start=values.get("line_start"),
        line_end=values.get("line_end"),
        score=1.0,
        content=values.get("quote", ""),
        highlights=[],
        markdown_start=values.get("markdown_start"),
        markdown_end=values.get("markdown_end"),
    )
