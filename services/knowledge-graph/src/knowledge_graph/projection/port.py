"""The port through which the projector writes to a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol
from uuid import UUID

from knowledge_graph.projection.state import GraphParts, GraphState


class Projection(Protocol):
    """A copy of the graph. Every method raises StoreUnavailable when the store does not respond.

    `turn` orders the writers: once a later writer has begun, a writer with a smaller number changes nothing.
    """

    name: str

    async def prepare(self) -> None:
        """Creates the schema."""
        ...

    async def apply(
        self, workspace_id: UUID, turn: int, parts: GraphParts, read: Callable[[], Awaitable[GraphState]]
    ) -> None:
        """Replaces the parts by what `read` returns, in one transaction; reads only after earlier writers finished."""
        ...

    async def rebuild(self, workspace_id: UUID, turn: int, pages: AsyncIterator[GraphState]) -> None:
        """Deletes the workspace from the projection and writes the pages."""
        ...

    async def mentions_of(self, workspace_id: UUID, document_id: UUID) -> int:
        """Counts the remaining mentions of a document."""
        ...

    async def workspaces(self) -> set[UUID]:
        """Returns the workspaces that have anything in the projection."""
        ...

    async def delete_workspace(self, workspace_id: UUID) -> int:
        """Deletes the workspace; returns the number of deleted nodes."""
        ...

    async def remaining(self, workspace_id: UUID) -> int:
        """Counts the nodes of the workspace."""
        ...
