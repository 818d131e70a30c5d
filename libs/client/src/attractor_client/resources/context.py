"""Evidence for a prompt, packed into a budget of tokens."""

from __future__ import annotations

from typing import Unpack

from attractor_client.http.transport import Transport
from attractor_client.resources.search import Filters, listed
from contracts.evidence import ContextRequest, ContextResponse, Tokenizers
from contracts.retrieval import Around, SearchMode

CONTEXT = "/v1/context"


class ContextOptions(Filters, total=False):
    """The options of `contracts.retrieval.ContextRequest`."""

    max_tokens: int
    tokenizer: str | None
    mode: SearchMode | None
    use_graph: bool
    rerank: bool
    around: Around
    max_passages: int


class Context:
    """`client.context`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def __call__(self, *queries: str, **options: Unpack[ContextOptions]) -> ContextResponse:
        """Returns the evidence for one or more questions, in at most `max_tokens` tokens (by default 2,000).

        Raises pydantic.ValidationError if an argument is out of range.
        """
        request = ContextRequest.model_validate({"queries": list(queries), **listed(options)})
        return await self.transport.query(CONTEXT, request, ContextResponse)

    async def tokenizers(self) -> Tokenizers:
        """Returns the names that `tokenizer` accepts."""
        return await self.transport.get(f"{CONTEXT}/tokenizers", Tokenizers)
