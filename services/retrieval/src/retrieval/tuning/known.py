"""A cache of search settings by the version of the index: every change of them raises its generation."""

from __future__ import annotations

from retrieval.ranking.features import Registry
from retrieval.reading.snapshot import Snapshot
from retrieval.reading.state import Version
from retrieval.tuning.store import SettingsRows
from retrieval.tuning.tuning import Tuning
from service_kit.recent_values import RecentValues


class KnownTunings:
    """Caches the tunings of recently searched workspaces. For one event loop."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._known = RecentValues[tuple[Version, Tuning]]()

    async def of(self, snapshot: Snapshot) -> Tuning:
        """Returns the workspace's tuning in the snapshot."""
        version = snapshot.state.version
        known = self._known.get(snapshot.workspace_id)
        if known is None or known[0] != version:
            stored = await SettingsRows(snapshot.reader.connection, snapshot.workspace_id).find()
            known = version, Tuning.of(stored, self.registry)
            self._known.put(snapshot.workspace_id, known)
        return known[1]
