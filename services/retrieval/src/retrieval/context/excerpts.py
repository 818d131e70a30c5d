"""Excerpts of a hit for a packet, from all of its surroundings to a few of its sentences. No IO."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from contracts.prompt_fence import neutralising
from contracts.retrieval import Highlight, Hit, Surrounding
from retrieval.highlights.sentences import is_code, spans
from service_kit.sentences import Span

LEFT_OUT = "[…]"
neutralised = neutralising("passage")


@dataclass(frozen=True)
class Excerpt:
    """A form of a hit. `shown` is the range of the hit's own characters in it; `grown` if it has surroundings too."""

    content: str
    chunk_ids: list[str]
    pages: tuple[int | None, int | None]
    shown: Span
    grown: bool = False


def whole_forms(hit: Hit) -> Iterator[Excerpt]:
    """Yields the hit with all its surroundings, then with those that were found too, then alone."""
    sizes = {len(hit.content): None}
    if hit.around is not None:
        found = [part.chunk_index for part in hit.around.parts if part.score is not None]
        for first, last in ((0, None), (min(found, default=0), max(found, default=0))):
            form = _of_range(hit, hit.around, first, last)
            if len(form.content) not in sizes and len(form.chunk_ids) > 1:
                sizes[len(form.content)] = None
                yield form
    yield own(hit)


def own(hit: Hit) -> Excerpt:
    """Returns the hit alone."""
    return Excerpt(neutralised(hit.content), [hit.chunk_id], (hit.page, hit.page_end), (0, len(hit.content)))


def shortened(hit: Hit, fits: Callable[[Excerpt], bool]) -> Excerpt | None:
    """Returns as many whole sentences of the hit as fit, with the best one among them; None if not even that fits."""
    sentences = spans(hit.content, code=is_code(hit.media_type))
    best = max(hit.highlights, key=lambda one: one.score, default=None)
    answering = _position(sentences, best)
    for first in dict.fromkeys([0, answering]):
        forms = [_window(hit, sentences, first, count) for count in range(1, len(sentences) - first + 1)]
        # More sentences are longer, so a binary search finds how many fit.
        count = bisect_left(forms, True, key=lambda form: not fits(form))
        if count and first + count > answering:
            return forms[count - 1]
    return None


def _of_range(hit: Hit, around: Surrounding, first: int, last: int | None) -> Excerpt:
    """Returns the chunks from index `first` to `last` (None: to the end) of the hit's surroundings."""
    parts = [part for part in around.parts if first <= part.chunk_index and (last is None or part.chunk_index <= last)]
    content = around.content[parts[0].start : parts[-1].end] if parts else ""
    pages = (around.page, around.page_end) if last is None else (hit.page, hit.page_end)
    shown = (0, len(hit.content))
    return Excerpt(neutralised(content), [part.chunk_id for part in parts], pages, shown, grown=True)


def _window(hit: Hit, sentences: list[Span], first: int, count: int) -> Excerpt:
    start, end = sentences[first][0], sentences[first + count - 1][1]
    start = 0 if first == 0 else start
    kept = neutralised(hit.content)[start:end]
    before = f"{LEFT_OUT} " if start else ""
    after = f" {LEFT_OUT}" if hit.content[end:].strip() else ""
    return replace(own(hit), content=f"{before}{kept}{after}", shown=(start, end))


def _position(sentences: list[Span], quote: Highlight | None) -> int:
    """Returns the position of the sentence that the quote begins in; 0 without a quote."""
    if quote is None:
        return 0
    return max(0, bisect_right([start for start, _ in sentences], quote.start) - 1)
