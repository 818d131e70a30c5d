"""attractor search"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer
from rich.padding import Padding
from rich.text import Text

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, run
from attractor_client.output import Output, plain
from attractor_client.rendering import place
from contracts.retrieval import Hit, SearchMode, SearchResponse

SHOWN_CHARACTERS = 600
BEFORE_CHARACTERS = 100


def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words or a question.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Passages to find.")] = 5,
    mode: Annotated[SearchMode, typer.Option(help="How to rank.")] = SearchMode.hybrid,
    document: Annotated[list[UUID] | None, typer.Option("--document", "-d", help="Search this document only.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show ranks, scores and times of each leg.")] = False,
    json: Json = False,
) -> None:
    """Find the passages that fit best.

    \b
    Examples:
      attractor search "refresh tokens" -k 3
      attractor search --mode lexical --explain UserDB
    """

    async def work(client: AttractorClient, output: Output) -> None:
        found = await client.search(
            query, k=k, mode=mode, document_ids=document, highlight=not output.as_json, explain=explain
        )
        if output.as_json:
            output.json(found)
            return
        for rank, hit in enumerate(found.hits, 1):
            _show(output, rank, hit)
        if explain:
            _explain(output, found)
        if not found.good_match:
            output.note("nothing found is likely to answer this" if found.hits else "nothing found", "yellow")
        for leg in found.legs:
            if leg.error:
                output.note(f"the {leg.leg} search was left out: {leg.error}", "yellow")

    run(ctx, json, work)


def _show(output: Output, rank: int, hit: Hit) -> None:
    where = place(" > ".join(hit.heading_path) or hit.section_title, hit.page, hit.line_start, hit.line_end)
    output.show(
        Text.assemble(
            (f"{rank}. ", "bold"),
            (plain(hit.document_name), "bold"),
            plain(f", {where}") if where else "",
            (f"  {hit.score:.3f}", "dim"),
        )
    )
    output.show(_passage(hit))
    if hit.explanation:
        why = hit.explanation
        terms = ", ".join(why.matched_terms) or "none"
        ranks = ", ".join(f"{leg} rank {found.rank or '-'}" for leg, found in why.legs.items()) + f", terms: {terms}"
        features = " ".join(f"{name}={value:.3f}" for name, value in why.features.items())
        output.text(f"   {ranks}; {features}", "dim")
    output.text()


def _passage(hit: Hit) -> Padding:
    """The passage with its best sentences in bold, around the first of them when it is long."""
    text = Text(plain(hit.content))  # as many characters as before: the spans still fit
    for span in hit.highlights:
        text.stylize("bold", span.start, span.end)
    best = hit.highlights[0].start if hit.highlights else 0
    start = max(0, min(best - BEFORE_CHARACTERS, len(text) - SHOWN_CHARACTERS))
    if start:  # at a word, unless none begins before the best sentence
        start = start + 1 + max(text.plain[start:best].find(" "), -1)
    end = start + SHOWN_CHARACTERS
    shown = Text.assemble("… " if start else "", text[start:end], " …" if end < len(text) else "")
    return Padding(shown, (0, 0, 0, 3), expand=False)


def _explain(output: Output, found: SearchResponse) -> None:
    rows = [(leg.leg, leg.candidates, f"{leg.milliseconds:.1f}", leg.method, leg.error) for leg in found.legs]
    if rows:
        output.table(("leg", "candidates", "ms", "method", "error"), rows)
    output.text(f"{found.mode.value}, {found.milliseconds:.1f} ms in all", "dim")
