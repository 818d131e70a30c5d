"""Reads and changes the search settings of workspaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.retrieval import SearchSettings, SearchSettingsUpdate
from inference.embedders import SpaceKey
from retrieval.errors import UnknownWeight
from retrieval.ranking.features import Registry
from retrieval.reading.state import raise_generation
from retrieval.tuning.tuning import StoredSettings, Tuning, named
from service_kit.postgres import Database
from service_kit.problems import PreconditionFailed
from service_kit.repository import Repository
from service_kit.statements import Statements

COLUMNS = ("mode", "k1", "b", "rrf_k", "legs", "diversity")


class SettingsSql(Statements, file="settings.sql"):
    """A workspace's row of settings, and its weights by embedding space."""

    lock: LiteralString
    find: LiteralString
    put: LiteralString
    put_weights: LiteralString
    remove_weights: LiteralString


class SettingsRows(Repository):
    """The settings of one workspace."""

    async def find(self) -> StoredSettings:
        """Returns the stored settings; for a workspace without any, all are None."""
        found = await self.one(SettingsSql.find, StoredSettings)
        assert found is not None, "the statement gives a row for every workspace"
        return found

    async def lock(self, version: int | None) -> StoredSettings:
        """Locks out other changes until the transaction ends. Raises PreconditionFailed for another version."""
        await self.run(SettingsSql.lock)
        stored = await self.find()
        if version is not None and version != stored.version:
            raise PreconditionFailed(f"the search settings now have version {stored.version}")
        return stored

    async def put(self, values: Mapping[str, object]) -> StoredSettings:
        """Replaces the settings; a column that is not in `values` gets its default."""
        row = dict.fromkeys(COLUMNS) | dict(values)
        row["legs"] = Jsonb(row["legs"]) if row["legs"] else None
        await self.run(SettingsSql.put, **row)
        await raise_generation(self.connection, self.workspace_id)
        return await self.find()


class SearchSettingsStore:
    """Reads and changes search settings. Each change raises their version and the generation of the index."""

    def __init__(self, database: Database, default: SpaceKey, registry: Registry) -> None:
        """`default` is the space that a workspace without one will take."""
        self.database, self.default, self.registry = database, default, registry

    async def get(self, workspace_id: UUID) -> SearchSettings:
        """Returns the effective settings, including defaults."""
        async with self.database.workspace(workspace_id) as connection:
            return self._shown(await SettingsRows(connection, workspace_id).find())

    async def change(self, workspace_id: UUID, update: SearchSettingsUpdate, version: int | None) -> SearchSettings:
        """Changes what is given and leaves the rest. Raises PreconditionFailed and UnknownWeight."""
        if unknown := self.registry.unknown(update.weights or (), update.legs or ()):
            features = [one.name for one in self.registry.features]
            raise UnknownWeight(f"there is no {', '.join(unknown)}", features=features, legs=list(self.registry.legs))
        async with self.database.workspace(workspace_id) as connection:
            rows = SettingsRows(connection, workspace_id)
            stored = await rows.lock(version)
            model, dims = stored.space or self.default
            if "weights" in update.reset:
                await rows.run(SettingsSql.remove_weights, model=model, dims=dims)
                stored = await rows.find()
            now = Tuning.of(stored, self.registry).rule
            if update.weights:
                weights = {"weights": Jsonb(named(now.space.weights, update.weights)), "scaled": now.space.scaled}
                await rows.run(SettingsSql.put_weights, model=model, dims=dims, **weights)
            values = {column: getattr(stored, column) for column in COLUMNS if column not in update.reset}
            values |= update.model_dump(mode="json", include={*COLUMNS} - {"legs"}, exclude_none=True)
            if update.legs:
                values["legs"] = {**(values.get("legs") or {}), **update.legs}
            return self._shown(await rows.put(values))

    def _shown(self, stored: StoredSettings) -> SearchSettings:
        return Tuning.of(stored, self.registry).shown(stored)
