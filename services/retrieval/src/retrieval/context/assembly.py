"""Gathers evidence: searches, then packs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contracts.evidence import ContextRequest, ContextResponse
from contracts.retrieval import SearchRequest, SearchResponse
from retrieval.context.packing import Packet, pack
from retrieval.context.tokenizers import ContextTokenizers
from service_kit.auth import Principal


@dataclass(frozen=True)
class ContextAssembly:
    """Packs what a search finds."""

    tokenizers: ContextTokenizers
    search: Callable[[Principal, SearchRequest], Awaitable[SearchResponse]]

    async def __call__(self, caller: Principal, request: ContextRequest) -> ContextResponse:
        """Returns the evidence. Raises UnknownTokenizer, TokenizerUnusable, and what `search` raises."""
        tokenizer = self.tokenizers.check(request.tokenizer)
        found = await self.search(caller, _search_of(request))

        def work() -> Packet:
            return pack(found.hits, request.max_tokens, self.tokenizers.counting(tokenizer))

        packet = await asyncio.to_thread(work)
        return ContextResponse(
            **vars(packet),
            max_tokens=request.max_tokens,
            tokenizer=tokenizer,
            good_match=found.good_match,
            match=found.match,
            legs=found.legs,
        )


def _search_of(request: ContextRequest) -> SearchRequest:
    """Returns the search for a packet: all queries, with the sentences of each hit that answer them."""
    query, *further = request.queries
    shared = SearchRequest.model_fields.keys() & ContextRequest.model_fields.keys() - {"queries"}
    values = {name: getattr(request, name) for name in shared}
    return SearchRequest(query=query, queries=further, k=request.max_passages, highlight=True, **values)
