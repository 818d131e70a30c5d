"""Embedding spaces as leased work: what is built, completed or dropped in the background."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.embedding_spaces import SpaceStatus
from inference.embedders import SpaceKey
from service_kit.work import WorkTable

CHANNEL = "retrieval_embedding_space"
IDLE = "idle"


@dataclass(frozen=True)
class LeasedSpace:
    """A space as it was when it was claimed. `attempts` counts this claim, and those before it that failed."""

    workspace_id: UUID
    lease_token: UUID
    id: str
    model: str
    dims: int
    status: str
    attempts: int
    rate: float | None

    @property
    def key(self) -> SpaceKey:
        return self.model, self.dims

    @property
    def active(self) -> bool:
        """Whether the workspace is searched in this space."""
        return self.status == SpaceStatus.active

    @property
    def dropping(self) -> bool:
        """True if the space is being deleted."""
        return self.status == SpaceStatus.dropping


# Claims list the configured models as `models` and `dims`; dropping a space does not need its model. A change of status
# ends the lease; a space that needs no work is idle.
TABLE = WorkTable(
    name="embedding_space",
    row=LeasedSpace,
    channel=CHANNEL,
    claimable="work.status = 'dropping' OR (work.model, work.dims) IN (SELECT * FROM unnest(%(models)s::text[], "
    "%(dims)s::integer[]))",
)
