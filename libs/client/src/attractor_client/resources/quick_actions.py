"""Quick actions: named prompts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.quick_actions import QuickAction, QuickActionCreate, QuickActionTarget, QuickActionUpdate

QUICK_ACTIONS = "/v1/quick-actions"


class QuickActions:
    """`client.quick_actions`: the user's own, and the workspace's."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def create(
        self,
        name: str,
        prompt: str,
        *,
        target: QuickActionTarget = QuickActionTarget.artifact,
        use_history: bool = False,
        use_preferences: bool = True,
        shared: bool = False,
    ) -> QuickAction:
        """Saves a prompt, for all members of the workspace if `shared`."""
        body = QuickActionCreate(
            name=name,
            prompt=prompt,
            target=target,
            use_history=use_history,
            use_preferences=use_preferences,
            shared=shared,
        )
        return await self.transport.fetch("POST", QUICK_ACTIONS, QuickAction, body=body)

    def all(self) -> AsyncIterator[QuickAction]:
        """Lists the quick actions, oldest first."""
        return every(self.transport, QUICK_ACTIONS, Page[QuickAction])

    async def get(self, action_id: UUID) -> QuickAction:
        return await self.transport.get(path("v1/quick-actions", action_id), QuickAction)

    async def change(self, action_id: UUID, change: QuickActionUpdate, *, version: int | None = None) -> QuickAction:
        """Changes the given fields; with `version`, raises StaleVersion if the action has changed since then."""
        return await self.transport.fetch(
            "PATCH",
            path("v1/quick-actions", action_id),
            QuickAction,
            body=change,
            headers=None if version is None else {"If-Match": f'"{version}"'},
            repeatable=version is None,
        )

    async def delete(self, action_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/quick-actions", action_id))
