"""Which of several full names a short form stands for in one chunk.

The rules of a document leave "Ford" open beside Gerald Ford and Henry Ford. In a chunk that names one of them alone it
is that one; a person that the chunk or the document is about comes next. In a chunk that names none of them the
sentence encoder decides: the chunk's text against the sentences that name each of them. What is not clear by a margin
stays open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from knowledge_graph.extraction.chunk_analysis import Part
from knowledge_graph.extraction.meaning import Meaning
from knowledge_graph.extraction.resolution import Resolution

MARGIN = 0.1
"""In a trial with two people of one surname this decided half of the chunks, 96 % of them rightly; .05 three in four,
86 % rightly."""
MOST_SENTENCES, LONGEST_SENTENCE = 3, 300
AROUND = 500
"""Characters before and after the short form, of what is encoded of its chunk."""


class Ties:
    """Of one document."""

    def __init__(self, parts: Sequence[Part], resolution: Resolution, meaning: Meaning) -> None:
        self.resolution, self.meaning = resolution, meaning
        self.wanted = {name for names in resolution.open.values() for name in names}
        self.titled = {key for part in parts for key in self._titles(part, {"title"})}
        self.sentences = self._sentences(parts) if self.wanted else {}

    def settled(self, part: Part) -> Resolution:
        """The document's resolution with what its open short forms stand for in this chunk."""
        if not self.resolution.open:
            return self.resolution
        named = {self.resolution.key(span.surface) for span in part.spans}
        titles = self._titles(part, {"title", "heading"})
        targets = {}
        for key in sorted((named | titles) & self.resolution.open.keys()):
            target = self._target(key, part, named, titles)
            if target is not None:
                targets[key] = target
        return replace(self.resolution, targets={**self.resolution.targets, **targets}) if targets else self.resolution

    def _target(self, key: str, part: Part, named: set[str], titles: set[str]) -> str | None:
        names = self.resolution.open[key]
        present = [name for name in names if name in named]
        if len(present) == 1:
            return present[0]
        if not present or self._opens_sentence(key, part):
            defined = {self.resolution.key(span.surface) for span in part.definitions}
            for about in (titles | defined, self.titled):
                only = [name for name in present or names if name in about]
                if len(only) == 1 and self.resolution.types.get(only[0]) == "PERSON":
                    return only[0]
        return None if present else self._nearest(key, names, part)

    def _opens_sentence(self, key: str, part: Part) -> bool:
        """As whom a text is about does; "the surname Threepwood" is nobody of that name."""
        return any(
            self.resolution.key(span.surface) == key and part.sentences.at(span.start)[0] == span.start
            for span in part.spans
        )

    def _nearest(self, key: str, names: Sequence[str], part: Part) -> str | None:
        place = next((one.start for one in part.spans if self.resolution.key(one.surface) == key), 0)
        around = part.text[max(0, place - AROUND) : place + AROUND]
        contexts = [" ".join(self.sentences.get(name, [])) for name in names]
        found = self.meaning.similarities(around, contexts) if all(contexts) else None
        if found is None:
            return None
        ranked = sorted(zip(found, names, strict=True), reverse=True)
        return ranked[0][1] if ranked[0][0] - ranked[1][0] >= MARGIN else None

    def _titles(self, part: Part, kinds: set[str]) -> set[str]:
        return {self.resolution.key(span.surface) for span, about in part.titles if about in kinds}

    def _sentences(self, parts: Sequence[Part]) -> dict[str, list[str]]:
        """The first sentences of the document that name each of the full names."""
        found: dict[str, list[str]] = defaultdict(list)
        for part in parts:
            for span in part.spans:
                key = self.resolution.key(span.surface)
                start, end = part.sentences.at(span.start)
                sentence = part.text[start : min(end, start + LONGEST_SENTENCE)]
                if key in self.wanted and len(found[key]) < MOST_SENTENCES and sentence not in found[key]:
                    found[key].append(sentence)
        return found
