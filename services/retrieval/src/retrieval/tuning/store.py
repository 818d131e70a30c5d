"""Every statement about search settings."""

from __future__ import annotations

from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from contracts.retrieval import SearchSettings, SearchSettingsUpdate
from inference.embedders import SpaceKey
from retrieval.ranking.weights import SpaceWeights
from retrieval.reading.state import raise_generation
from retrieval.tuning.tuning import StoredSettings, Tuning, reweighted
from service_kit.postgres import Connection, Database
from service_kit.problems import PreconditionFailed
from service_kit.queries import load

QUERIES = load("retrieval")
COLUMNS = ("mode", "k1", "b", "rrf_k", "legs", "diversity")


async def stored_settings(connection: Connection, workspace_id: UUID) -> StoredSettings:
    """As they stand in the transaction of the caller."""
    async with connection.cursor(row_factory=class_row(StoredSettings)) as cursor:
        await cursor.execute(QUERIES["search_settings"], {"workspace_id": workspace_id})
        found = await cursor.fetchone()
    assert found is not None, "the statement gives a row for every workspace"
    return found


class SearchSettingsStore:
    """Settings of any workspace; a new version with every change, and a new generation of the index."""

    def __init__(self, database: Database, default: SpaceKey) -> None:
        """`default` is the space that a workspace without one will take."""
        self.database, self.default = database, default

    async def get(self, workspace_id: UUID) -> SearchSettings:
        async with self.database.workspace(workspace_id) as connection:
            return _shown(await stored_settings(connection, workspace_id))

    async def change(self, workspace_id: UUID, asked: SearchSettingsUpdate, version: int | None) -> SearchSettings:
        """What is left out stays. Raises PreconditionFailed."""
        async with self.database.workspace(workspace_id) as connection:
            stored = await self._locked(connection, workspace_id, version)
            if "weights" in asked.reset:
                await self._execute(connection, "remove_space_weights", workspace_id, self._space(stored))
                stored = await stored_settings(connection, workspace_id)
            if asked.weights:
                weights = reweighted(Tuning.of(stored).rule.space, asked.weights)
                await self._put_weights(connection, workspace_id, self._space(stored), weights)
            values = {column: getattr(stored, column) for column in COLUMNS if column not in asked.reset}
            values |= asked.model_dump(mode="json", include=set(COLUMNS), exclude_none=True)
            return await self._put(connection, workspace_id, values)

    async def _locked(self, connection: Connection, workspace_id: UUID, version: int | None) -> StoredSettings:
        """Until the end of the transaction nobody else changes them."""
        await connection.execute(QUERIES["lock_search_settings"], {"workspace_id": workspace_id})
        stored = await stored_settings(connection, workspace_id)
        if version is not None and version != stored.version:
            raise PreconditionFailed(f"the search settings have version {stored.version} by now")
        return stored

    async def _put(self, connection: Connection, workspace_id: UUID, values: dict[str, object]) -> SearchSettings:
        row = dict.fromkeys(COLUMNS) | values
        row["legs"] = Jsonb(row["legs"]) if row["legs"] else None
        await connection.execute(QUERIES["put_search_settings"], row | {"workspace_id": workspace_id})
        await raise_generation(connection, workspace_id)
        return _shown(await stored_settings(connection, workspace_id))

    async def _put_weights(
        self, connection: Connection, workspace_id: UUID, space: SpaceKey, weights: SpaceWeights
    ) -> None:
        more = {"weights": Jsonb(weights.weights.as_dict()), "scaled": weights.scaled}
        await self._execute(connection, "put_space_weights", workspace_id, space, **more)

    def _space(self, stored: StoredSettings) -> SpaceKey:
        return stored.space or self.default

    async def _execute(
        self, connection: Connection, name: str, workspace_id: UUID, space: SpaceKey, **more: object
    ) -> None:
        model, dims = space
        await connection.execute(QUERIES[name], {"workspace_id": workspace_id, "model": model, "dims": dims, **more})


def _shown(stored: StoredSettings) -> SearchSettings:
    return Tuning.of(stored).shown(stored)
