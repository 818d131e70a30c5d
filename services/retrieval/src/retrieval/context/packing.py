"""Packs hits into a budget of tokens. No IO.

Passages are in the order of their rank, best first: a model reads the beginning of a long prompt best (Liu et al. 2023,
Lost in the Middle), a caller who shortens the packet loses the worst, and the number of a passage is its rank. A
passage brings its surroundings if it then takes at most half of the remaining budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contracts.evidence import Evidence, EvidenceQuote
from contracts.prompt_fence import fenced
from contracts.retrieval import Hit
from retrieval.context.excerpts import Excerpt, shortened, whole_forms

SEPARATOR = "\n\n"
OF_THE_HIT = [name for name in Evidence.model_fields if name in Hit.model_fields and name != "content"]
Count = Callable[[str], int]


@dataclass(frozen=True)
class Packet:
    """Packed evidence. `tokens` is the length of `text`; `cut` says which parts of the hits are missing."""

    text: str
    tokens: int
    evidence: list[Evidence]
    cut: list[str]


def pack(hits: Sequence[Hit], max_tokens: int, count: Count) -> Packet:
    """Returns a packet of at most `max_tokens`, as `count` counts the tokens of its text."""
    packing = _Packing(max_tokens, count)
    for position, hit in enumerate(hits):
        if packing.shortened:
            break
        packing.add(hit, is_last=position == len(hits) - 1)
    return packing.packet(len(hits))


@dataclass
class _Packing:
    max_tokens: int
    count: Count
    blocks: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    used: int = 0
    alone: int = 0
    shortened: str | None = None

    def add(self, hit: Hit, *, is_last: bool) -> None:
        left = self.max_tokens - self.used
        for form in whole_forms(hit):
            allowed = left if is_last or not form.grown else left // 2
            if self._cost(hit, form) <= allowed:
                self.alone += hit.around is not None and len(hit.around.parts) > len(form.chunk_ids)
                self._take(hit, form)
                return
        part = shortened(hit, lambda form: self._cost(hit, form) <= left)
        if part is not None:
            self._take(hit, part)
            shown = f"{part.shown[1] - part.shown[0]} of {len(hit.content)} characters"
            self.shortened = f"passage {len(self.blocks)} is shortened at sentence ends, to {shown}"

    def packet(self, found: int) -> Packet:
        text = SEPARATOR.join(self.blocks)
        # The whole may have more tokens than its parts together, so it is counted again.
        while (tokens := self.count(text)) > self.max_tokens:
            self.blocks.pop()
            self.evidence.pop()
            self.shortened = None
            text = SEPARATOR.join(self.blocks)
        return Packet(text, tokens, self.evidence, self._cut(found))

    def _cut(self, found: int) -> list[str]:
        if found and not self.blocks:
            return [f"{self.max_tokens} tokens are too few for any of the {found} passages found"]
        notes = [self.shortened] if self.shortened else []
        if self.alone:
            notes.append(f"passages without their surroundings, which did not fit: {self.alone}")
        if found > len(self.blocks):
            notes.append(f"passages left out, which did not fit: {found - len(self.blocks)} of {found}")
        return notes

    def _take(self, hit: Hit, form: Excerpt) -> None:
        block = self._block(hit, form)
        self.used += self._cost(hit, form)
        self.blocks.append(block)
        self.evidence.append(_evidence(len(self.blocks), hit, form, self.count(block)))

    def _cost(self, hit: Hit, form: Excerpt) -> int:
        return self.count((SEPARATOR if self.blocks else "") + self._block(hit, form))

    def _block(self, hit: Hit, form: Excerpt) -> str:
        return fenced(len(self.blocks) + 1, hit.document_name, _section(hit), form.pages, form.content)


def _evidence(number: int, hit: Hit, form: Excerpt, tokens: int) -> Evidence:
    start, end = form.shown
    return Evidence(
        **{name: getattr(hit, name) for name in OF_THE_HIT},
        number=number,
        chunk_ids=form.chunk_ids,
        section=_section(hit),
        content=form.content,
        tokens=tokens,
        quotes=[
            EvidenceQuote(text=hit.content[one.start : one.end], start=one.start, end=one.end, score=one.score)
            for one in hit.highlights
            if start <= one.start and one.end <= end
        ],
    )


def _section(hit: Hit) -> str | None:
    return " > ".join(hit.heading_path) or hit.section_title
