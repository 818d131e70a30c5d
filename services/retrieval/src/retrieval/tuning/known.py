"""A cache of search settings by the version of the index: every change of them raises its generation."""

from __future__ import annotations

from collections import OrderedDict
from uuid import UUID

from retrieval.ranking.features import Registry
from retrieval.reading.snapshot import Snapshot
from retrieval.reading.state import Version
from retrieval.tuning.store import SettingsRows
from retrieval.tuning.tuning import Tuning

REMEMBERED = 1000  # workspaces


class KnownTunings:
    """Caches the tunings of the most recently searched workspaces. For one event loop."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._known: OrderedDict[UUID, tuple[Version, Tuning]] = OrderedDict()

    async def of(self, snapshot: Snapshot) -> Tuning:
        """Returns the workspace's tuning in the snapshot."""
        place, version = snapshot.workspace_id, snapshot.state.version
        known = self._known.pop(place, None)
        if known is None or known[0] != version:
            known = version, await self._read(snapshot)
        self._known[place] = known
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return known[1]

    async def _read(self, snapshot: Snapshot) -> Tuning:
        stored = await SettingsRows(snapshot.reader.connection, snapshot.workspace_id).find()
        return Tuning.of(stored, self.registry)
