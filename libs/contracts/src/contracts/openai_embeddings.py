"""Requests and responses of the OpenAI API: embeddings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from contracts.base import Resource
from contracts.openai_api import Lenient, ModelName, Said

MOST_INPUTS = 256


def _texts(given: Any) -> Any:
    """Says in plain words what is wrong with an input that is neither a text nor a list of a few texts."""
    if isinstance(given, list):
        if any(not isinstance(text, str) for text in given):
            raise ValueError("send texts: lists of token numbers are not read")
        if not 0 < len(given) <= MOST_INPUTS:
            raise ValueError(f"send 1 to {MOST_INPUTS} texts at a time, not {len(given)}")
    return given


class EmbeddingRequest(Lenient):
    """`model` is a configured embedding model, or `attractor` for the default one. `dimensions` must be the model's.

    Longer texts than the model can read are truncated. Lists of tokens are rejected.
    """

    model: ModelName
    input: Annotated[Said | Annotated[list[Said], Field(min_length=1, max_length=MOST_INPUTS)], BeforeValidator(_texts)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1, le=100_000)] | None = None


class EmbeddingVector(Resource):
    """A unit vector: numbers, or with `base64` the bytes of little-endian 32-bit floats."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(Resource):
    """Tokens, as estimated from the characters of the texts."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Resource):
    """One vector for each text, in order."""

    object: Literal["list"] = "list"
    model: str
    data: list[EmbeddingVector]
    usage: EmbeddingUsage
