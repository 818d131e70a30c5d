"""Limits work in progress by key and by workspace in this process, so that nobody takes all connections to services."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import prometheus_client

from gateway.errors import TooManyInFlight


@dataclass(frozen=True)
class Shares:
    """What one key and one workspace may have in progress; 0: no limit."""

    per_key: int
    per_workspace: int


class InFlight:
    """Admits work up to the shares. An ordinary request has the weight 1; none weighs more than a share."""

    def __init__(self, what: str, shares: Shares, refused: prometheus_client.Counter) -> None:
        self.what, self.shares, self.refused = what, shares, refused
        self.keys: Counter[UUID] = Counter()
        self.workspaces: Counter[UUID] = Counter()

    @contextmanager
    def held(self, key_id: UUID, workspace_id: UUID, weight: int = 1, beside: int = 0) -> Iterator[None]:
        """Counts the work until the block ends; `beside`: the weight already counted. Raises TooManyInFlight."""
        weight = min([weight, *(share - beside for share in (self.shares.per_key, self.shares.per_workspace) if share)])
        self._admit(self.keys[key_id] + weight, self.shares.per_key, "key")
        self._admit(self.workspaces[workspace_id] + weight, self.shares.per_workspace, "workspace")
        self.keys[key_id] += weight
        self.workspaces[workspace_id] += weight
        try:
            yield
        finally:
            _less(self.keys, key_id, weight)
            _less(self.workspaces, workspace_id, weight)

    def _admit(self, wanted: int, most: int, holder: str) -> None:
        if most and wanted > most:
            self.refused.labels(self.what, holder).inc()
            raise TooManyInFlight(
                f"{self.what} of this {holder} in progress: at most {most} at a time; wait for some to end",
                headers={"Retry-After": "1"},
                limit=most,
            )


def _less(counter: Counter[UUID], holder: UUID, weight: int) -> None:
    counter[holder] -= weight
    if counter[holder] <= 0:
        del counter[holder]
