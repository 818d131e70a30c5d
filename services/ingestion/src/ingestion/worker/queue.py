"""What a worker does next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psycopg.rows import class_row

from contracts.ingestion import Lane
from ingestion.documents.rows import DocumentKey, HeldStage
from ingestion.documents.stages import StageSql
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.stages import StageRecords

CHOICES, ROUNDS = 8, 3  # other workers may take what was chosen in the same moment


class StageQueue:
    """Chooses when a slot is free and not before: no worker keeps waiting what another could begin."""

    def __init__(self, database: WorkerDatabase, stages: StageRecords, is_closed: Callable[[], bool]) -> None:
        """Nothing is taken any more once `is_closed` says so."""
        self.database, self.stages, self.is_closed = database, stages, is_closed

    def take(self, lanes: Sequence[Lane]) -> HeldStage | None:
        """Leases what comes next in these lanes, fairly between workspaces; None when nothing is due."""
        for _ in range(0 if self.is_closed() else ROUNDS):
            choices = self._choices(lanes)
            for choice in choices:
                if job := self.stages.lease(choice.workspace_id, choice.document_id):
                    return job
            if not choices:
                break
        return None

    def _choices(self, lanes: Sequence[Lane]) -> list[DocumentKey]:
        with self.database.system() as connection, connection.cursor(row_factory=class_row(DocumentKey)) as cursor:
            cursor.execute(StageSql.choose, {"lanes": list(lanes), "limit": CHOICES})
            return cursor.fetchall()
