"""The routes of the OpenAI API, and the format of their errors."""

from __future__ import annotations

from contracts.base import Resource

PATHS = ("/v1/chat/completions", "/v1/models", "/v1/responses", "/v1/embeddings")


class OpenAIErrorBody(Resource):
    """`type` is the kind of error, `code` names it, `param` is the field it is about, `run_id` the run that failed."""

    message: str
    type: str
    code: str | None
    param: str | None
    run_id: str | None = None


class OpenAIError(Resource):
    """An error in the OpenAI API's format."""

    error: OpenAIErrorBody


def is_openai_path(path: str) -> bool:
    """Returns whether the path, or its template, is one that clients of the OpenAI API call."""
    return any(path == one or path.startswith(f"{one}/") for one in PATHS)
