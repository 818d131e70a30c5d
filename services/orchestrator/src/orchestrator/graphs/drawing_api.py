"""The route that draws graphs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from contracts.base import ProblemBody
from contracts.orchestrator import GraphDrawing
from orchestrator.errors import GraphNotFound
from orchestrator.graphs.drawing import GRAPHS, mermaid
from service_kit.auth import Viewer

router = APIRouter(prefix="/v1/graphs", tags=["orchestrator"])


@router.get(
    "/{name}",
    summary="Draw a graph",
    responses={404: {"model": ProblemBody, "description": "There is no such graph"}},
)
async def draw_graph(
    name: Annotated[str, Path(min_length=1, max_length=40, description="conversation, artifact_ops or retrieve")],
    _: Viewer,
) -> GraphDrawing:
    """Returns a Mermaid diagram of the compiled graph that answers messages, changes artifacts or searches."""
    build = GRAPHS.get(name)
    if build is None:
        raise GraphNotFound
    return GraphDrawing(name=name, mermaid=mermaid(build()))
