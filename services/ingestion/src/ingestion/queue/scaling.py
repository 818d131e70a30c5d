"""How many workers are wanted, for an autoscaler. A queue in Redis does not say it: its messages only wake workers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from contracts.ingestion import Lane
from ingestion.documents.workers import BESIDE_BULK, WorkerSql
from ingestion.queue.statements import QueueSql
from service_kit.postgres import Database
from service_kit.repository import SystemRepository


@dataclass(frozen=True)
class Workload:
    """What runs and what waits, of one kind; the oldest has waited for `oldest_seconds`."""

    running: int
    waiting: int
    oldest_seconds: float

    def counted(self, target_seconds: float) -> int:
        """Returns what runs, and also what waits if the oldest has waited too long."""
        return self.running + (self.waiting if self.oldest_seconds > target_seconds else 0)


@dataclass(frozen=True)
class LaneWorkload(Workload):
    lane: str


def workers_wanted(lanes: list[LaneWorkload], syncs: Workload, slots: int, target_seconds: float) -> int:
    """Computes how many workers are wanted; `slots` are those of one worker, 0 if there is none to ask.

    What runs keeps its workers. What waits wants more only once its oldest has waited longer than the target: until
    then the workers that run are enough. Any work wants one.
    """
    counted = {one.lane: one.counted(target_seconds) for one in lanes}
    needed = [syncs.counted(target_seconds)]  # a worker synchronises one source at a time
    if slots:
        needed.append(math.ceil(counted[Lane.bulk] / slots))
        needed.append(math.ceil(sum(counted.values()) / (slots + BESIDE_BULK)))
    return max(*needed, int(any(one.running or one.waiting for one in (*lanes, syncs))))


class Scaling:
    """Asks the tables how many workers are wanted; any replica may."""

    def __init__(self, database: Database, lease_seconds: float, target_seconds: float) -> None:
        self.database, self.lease_seconds, self.target_seconds = database, lease_seconds, target_seconds

    async def wanted(self) -> int:
        """Returns how many workers are wanted now."""
        async with self.database.system() as connection:
            tables = SystemRepository(connection)
            lanes = await tables.all(QueueSql.lane_work, LaneWorkload)
            syncs = await tables.one(QueueSql.sync_load, Workload)
            slots = await tables.value(WorkerSql.slots, lease=self.lease_seconds)
        assert syncs is not None
        return workers_wanted(lanes, syncs, slots, self.target_seconds)
