"""SQL statements of the dispatcher and its metrics."""

from __future__ import annotations

from typing import LiteralString

from service_kit.statements import Statements


class QueueSql(Statements, file="queue.sql"):
    capacity: LiteralString
    sync_load: LiteralString
    lane_work: LiteralString
    depths: LiteralString
    stages_by_state: LiteralString
    sources_by_success: LiteralString
