"""A reranker with the API of text-embeddings-inference that responds instantly, scoring by shared words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.scripted_endpoint import serving
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def rerank(request: Request) -> Response:
    asked = await request.json()
    words = set(asked["query"].lower().split())
    scores = [len(words & set(text.lower().split())) / max(1, len(words)) for text in asked["texts"]]
    return JSONResponse([{"index": index, "score": score} for index, score in enumerate(scores)])


@contextmanager
def rerank_endpoint() -> Iterator[str]:
    """Serves the endpoint on a free port; yields its base URL."""
    with serving([Route("/rerank", rerank, methods=["POST"])]) as url:
        yield url
