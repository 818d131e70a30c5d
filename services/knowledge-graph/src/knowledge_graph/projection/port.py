"""What the projector needs of a store that the graph is projected to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol
from uuid import UUID

from knowledge_graph.projection.state import GraphParts, GraphState


class Projection(Protocol):
    """A copy of the graph. Every method raises StoreUnavailable when the store does not answer.

    `turn` orders the writers: one with a smaller number than that of a later writer changes nothing any more.
    """

    name: str

    async def prepare(self) -> None:
        """Creates the schema."""
        ...

    async def apply(
        self, workspace_id: UUID, turn: int, parts: GraphParts, read: Callable[[], Awaitable[GraphState]]
    ) -> None:
        """Replaces the parts by what `read` returns, in one transaction; reads only once earlier writers are done."""
        ...

    async def rebuild(self, workspace_id: UUID, turn: int, pages: AsyncIterator[GraphState]) -> None:
        """Deletes the workspace and writes the pages."""
        ...

    async def mentions_of(self, workspace_id: UUID, document_id: UUID) -> int:
        """Counts the mentions that remain of a document."""
        ...

    async def workspaces(self) -> set[UUID]:
        """Returns the workspaces of which there is anything."""
        ...

    async def delete_workspace(self, workspace_id: UUID) -> int:
        """Deletes all of the workspace; returns how many nodes were deleted."""
        ...

    async def remaining(self, workspace_id: UUID) -> int:
        """Counts the nodes of the workspace."""
        ...
