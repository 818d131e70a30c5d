"""The route of embeddings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request

from contracts.openai_embeddings import EmbeddingList, EmbeddingRequest
from contracts.openai_errors import OpenAIError
from retrieval.embeddings.embedding import TextEmbedding
from service_kit.auth import Viewer
from service_kit.disconnects import unless_left
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/embeddings", tags=["retrieval"])
REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": OpenAIError, "description": "No such embedding model is configured"},
    503: {"model": OpenAIError, "description": "The embedding model does not respond"},
}


@router.post("", summary="Embed texts as the OpenAI API does", responses=REFUSED)
async def create_embeddings(
    body: EmbeddingRequest,
    request: Request,
    caller: Viewer,  # noqa: ARG001  for authenticated callers only
    using: Annotated[TextEmbedding, from_state("text_embedding")],
) -> EmbeddingList:
    """Returns unit vectors of up to 256 texts, from the models that embed the documents.

    Searches, which share the machine, take precedence. The texts are not stored.
    """
    return await unless_left(request, using.embed(body))
