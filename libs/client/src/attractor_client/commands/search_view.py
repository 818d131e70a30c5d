"""Shows search results to people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.padding import Padding
from rich.text import Text

from attractor_client.output import Output, plain
from contracts.locations import location
from contracts.retrieval import (
    Hit,
    HitExplanation,
    LegScore,
    QueryReport,
    SearchResponse,
    Surrounding,
    WhyReason,
    WhyResponse,
)

SHOWN_CHARACTERS = 600
BEFORE_CHARACTERS = 100
INDENT = (0, 0, 0, 3)


def show_found(output: Output, found: SearchResponse, explain: bool) -> None:
    """Shows hits, facets and, with `explain`, how they were ranked; warnings go to stderr."""
    for rank, hit in enumerate(found.hits, 1):
        _show(output, rank, hit, explain)
    for facet, counts in found.facets.items():
        output.table((facet.value, "chunks", "documents"), [(one.value, one.chunks, one.documents) for one in counts])
        output.text()
    if found.understood:
        _show_corrections(output, found.understood)
    if explain:
        _explain(output, found)
    if not found.good_match:
        output.note("none of the results is likely to answer this" if found.hits else "nothing found", "yellow")
    for leg in found.legs:
        if leg.error:
            output.note(f"{leg.leg} search skipped: {leg.error}", "yellow")


def _show(output: Output, rank: int, hit: Hit, explain: bool) -> None:
    where = location(" > ".join(hit.heading_path) or hit.section_title, hit.page, hit.line_start, hit.line_end)
    output.show(
        Text.assemble(
            (f"{rank}. ", "bold"),
            (plain(hit.document_name), "bold"),
            plain(f", {where}") if where else "",
            (f"  {hit.score:.3f}", "dim"),
        )
    )
    output.show(Padding(passage(hit), INDENT, expand=False))
    if hit.duplicates:
        names = ", ".join(dict.fromkeys(one.document_name for one in hit.duplicates))
        output.show(Padding(Text(plain(f"near-duplicates in {names}"), style="dim"), INDENT, expand=False))
    if explain and hit.explanation:
        _why(output, hit.explanation, hit.graph_path)
    output.text()


def show_why(output: Output, found: WhyResponse) -> None:
    """Shows where a document is in a search, or what keeps it out, with its best chunk."""
    rank = "beyond the first 100 hits" if found.rank is None else f"on rank {found.rank}"
    reasons = {
        WhyReason.found: f"It is found, {rank}.",
        WhyReason.below: f"It matches, but others rank higher: it is {rank}.",
        WhyReason.duplicate: "A hit that says nearly the same is shown instead:",
        WhyReason.filtered: f"It is excluded by {', '.join(found.filters)}.",
        WhyReason.unmatched: "Nothing in it matches this query.",
        WhyReason.not_indexed: "It is not indexed. `attractor documents show` says why.",
    }
    output.text(reasons[found.reason], "bold")
    if found.hit:
        _show(output, found.rank or 1, found.hit, explain=True)


def passage(hit: Hit) -> Text:
    """Returns the chunk with its best sentences in bold. A long chunk is cut around the first of them, unless the text
    around it was requested.
    """
    text = Text(plain(hit.content))  # the length is unchanged, so the spans still fit
    for span in hit.highlights:
        text.stylize("bold", span.start, span.end)
    if hit.around:
        return _within(hit.around, hit.chunk_id, hit.content, text)
    best = hit.highlights[0].start if hit.highlights else 0
    start = max(0, min(best - BEFORE_CHARACTERS, len(text) - SHOWN_CHARACTERS))
    if start:  # begin at a word, unless none begins before the best sentence
        start = start + 1 + max(text.plain[start:best].find(" "), -1)
    end = start + SHOWN_CHARACTERS
    return Text.assemble("… " if start else "", text[start:end], " …" if end < len(text) else "")


def _within(around: Surrounding, chunk_id: str, content: str, text: Text) -> Text:
    """Returns the whole surrounding, dimmed except for the chunk itself; `text` is the styled chunk."""
    if (at := around.content.find(content)) >= 0:
        before, after = around.content[:at], around.content[at + len(content) :]
        return Text.assemble((plain(before), "dim"), text, (plain(after), "dim"))
    whole = Text(plain(around.content), style="dim")  # the chunk's beginning may repeat the end of the one before it
    for part in around.parts:
        if part.chunk_id == chunk_id:
            whole.stylize("not dim", part.start, part.end)
    return whole


def _why(output: Output, why: HitExplanation, graph_path: Sequence[str]) -> None:
    legs = "   ".join(f"{name} {_standing(leg)}" for name, leg in why.legs.items())
    terms = (f"{name} {value:.3f} × {why.weights.get(name, 1.0):g}" for name, value in why.features.items() if value)
    rows = (
        ("legs", legs),
        ("score", f"{' + '.join(terms) or '-'} = {why.fused_score:.3f}, rank {why.fused_rank}"),
        ("words", ", ".join(why.matched_terms) or "none"),
        ("path", " > ".join(graph_path)),
    )
    for name, value in rows:
        if value:
            line = Text.assemble((f"{name:<6}", "cyan"), (plain(value), "dim"))
            output.show(Padding(line, INDENT, expand=False))


def _standing(leg: LegScore) -> str:
    if leg.rank is None:
        return "-" if leg.score is None else f"- ({leg.score:.3f})"
    return f"#{leg.rank}" if leg.score is None else f"#{leg.rank} ({leg.score:.3f})"


def _show_corrections(output: Output, understood: QueryReport) -> None:
    for unknown, taken in understood.corrected.items():
        output.note(f"searched for {_listed(taken)} instead of {unknown}, which occurs in no document", "yellow")


def _explain(output: Output, found: SearchResponse) -> None:
    if read := found.understood:
        output.text("How the query was parsed", "bold")
        output.fields(
            [
                ("words", ", ".join(read.terms)),
                ("phrases", ", ".join(f"“{one}”" for one in read.phrases)),
                ("prefixes", ", ".join(f"{one}*" for one in read.prefixes)),
                ("excluded", ", ".join(read.excluded)),
                *((f"{name}:", ", ".join(values)) for name, values in read.fields.items()),
                *((unknown, f"corrected to {_listed(taken)}") for unknown, taken in read.corrected.items()),
            ]
        )
        output.text()
    rows = [(leg.leg, leg.candidates, f"{leg.milliseconds:.1f}", leg.method, leg.error) for leg in found.legs]
    if rows:
        output.table(("leg", "candidates", "ms", "method", "error"), rows)
        output.text()
    steps = ", ".join(f"{name} {milliseconds:.1f}" for name, milliseconds in (found.timings or {}).items())
    parts = [
        found.mode.value,
        f"{found.milliseconds:.1f} ms in all" + (f" ({steps})" if steps else ""),
        f"probability that it answers: {found.match:.2f}",
        f"ordered by {found.reranked_by}" if found.reranked_by else "",
        "from the cache" if found.cached else "",
    ]
    output.text("; ".join(part for part in parts if part), "dim")


def _listed(words: Iterable[str]) -> str:
    return " or ".join(words)
