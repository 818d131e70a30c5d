"""Decides, chunk by chunk, which of several full names a short form stands for.

The document's rules leave "Ford" open if both Gerald Ford and Henry Ford occur. In a chunk that names only one of them,
the short form means that one; otherwise a person whom the chunk or document is about, if the short form opens a
sentence. Everything else stays open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.resolution import Resolution


class Disambiguation:
    """Resolves the ambiguous short forms of one document."""

    def __init__(self, chunks: Sequence[ChunkAnalysis], resolution: Resolution) -> None:
        self.resolution = resolution
        self.titled = {key for chunk in chunks for key in self._titles(chunk, {"title"})}

    def resolved(self, chunk: ChunkAnalysis) -> Resolution:
        """Returns the document's resolution, extended by what its ambiguous short forms mean in this chunk."""
        if not self.resolution.ambiguous:
            return self.resolution
        named = {self.resolution.key(span.surface) for span in chunk.spans}
        titles = self._titles(chunk, {"title", "heading"})
        targets = {}
        for key in sorted((named | titles) & self.resolution.ambiguous.keys()):
            target = self._target(key, chunk, named, titles)
            if target is not None:
                targets[key] = target
        return replace(self.resolution, targets={**self.resolution.targets, **targets}) if targets else self.resolution

    def _target(self, key: str, chunk: ChunkAnalysis, named: set[str], titles: set[str]) -> str | None:
        names = self.resolution.ambiguous[key]
        present = [name for name in names if name in named]
        if len(present) == 1:
            return present[0]
        if not present or self._opens_sentence(key, chunk):
            defined = {self.resolution.key(span.surface) for span in chunk.definitions}
            for about in (titles | defined, self.titled):
                only = [name for name in present or names if name in about]
                if len(only) == 1 and self.resolution.types.get(only[0]) == "PERSON":
                    return only[0]
        return None

    def _opens_sentence(self, key: str, chunk: ChunkAnalysis) -> bool:
        """Returns whether the name opens a sentence: a person, not a mere name ("the surname Threepwood")."""
        return any(
            self.resolution.key(span.surface) == key and chunk.sentences.at(span.start)[0] == span.start
            for span in chunk.spans
        )

    def _titles(self, chunk: ChunkAnalysis, kinds: set[str]) -> set[str]:
        return {self.resolution.key(span.surface) for span, about in chunk.titles if about in kinds}
