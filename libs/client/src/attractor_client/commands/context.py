"""attractor context"""

from __future__ import annotations

from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands import search_options
from attractor_client.invocation import connected
from attractor_client.output import Output
from attractor_client.resources.search import Filters
from contracts.evidence import ContextResponse
from contracts.locations import location
from contracts.retrieval import Around


@connected(filters=search_options.filters)
async def context(
    client: AttractorClient,
    output: Output,
    questions: Annotated[list[str], typer.Argument(metavar="QUESTION...", help="One or more questions.")],
    filters: Filters,
    max_tokens: Annotated[int, typer.Option("--max-tokens", "-t", min=64, max=200_000, help="Token budget.")] = 2_000,
    tokenizer: Annotated[str | None, typer.Option(help="Tokenizer; default: the server's.")] = None,
    passages: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of chunks.")] = 20,
    around: Annotated[Around, typer.Option(help="How far to extend each chunk.")] = Around.neighbours,
    mode: search_options.Mode = None,
    no_graph: search_options.NoGraph = False,
    no_rerank: search_options.NoRerank = False,
) -> None:
    """Pack the evidence for one or more questions into a token budget, ready for a prompt.

    The evidence goes to stdout, its sources and size to stderr.

    \b
    Examples:
      attractor context "How long does a refresh token live?" --max-tokens 800
      attractor context "Who owns UserDB?" "What depends on it?" --tag runbook > evidence.txt
    """
    packet = await client.context(
        *questions,
        **filters,
        max_tokens=max_tokens,
        tokenizer=tokenizer,
        max_passages=passages,
        around=around,
        mode=mode,
        use_graph=not no_graph,
        rerank=not no_rerank,
    )
    output.json(packet) if output.as_json else _show(output, packet)


def _show(output: Output, packet: ContextResponse) -> None:
    output.text(packet.text)
    for one in packet.evidence:
        where = location(one.section, one.page, one.line_start, one.line_end)
        named = f"{one.document_name}, {where}" if where else one.document_name
        output.note(f"[{one.number}] {named}  {one.tokens} tokens, score {one.score:.3f}")
    output.note(f"{packet.tokens} of {packet.max_tokens} tokens, counted by {packet.tokenizer}")
    for cut in packet.cut:
        output.note(f"cut: {cut}")
    if not packet.good_match:
        output.note("none of the results is likely to answer this" if packet.evidence else "nothing found", "yellow")
    for leg in packet.legs:
        if leg.error:
            output.note(f"{leg.leg} search skipped: {leg.error}", "yellow")
