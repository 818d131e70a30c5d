"""Search settings of a workspace, used where a request does not override them."""

from __future__ import annotations

from attractor_client.http.transport import Transport
from contracts.retrieval import SearchSettings, SearchSettingsUpdate

SETTINGS = "/v1/search-settings"


class WorkspaceSearchSettings:
    """`client.search_settings`. Changing them requires an owner's key."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def get(self) -> SearchSettings:
        return await self.transport.get(SETTINGS, SearchSettings)

    async def update(self, settings: SearchSettings, change: SearchSettingsUpdate) -> SearchSettings:
        """Changes or resets what `change` names; raises StaleVersion if `settings` are not the newest."""
        return await self.transport.fetch(
            "PATCH", SETTINGS, SearchSettings, body=change, headers={"If-Match": f'"{settings.version}"'}
        )
