"""Maps an update of a source to its columns."""

from __future__ import annotations

from typing import Any

from contracts.sources import SourceUpdate
from ingestion.sources.selection import Selection
from ingestion.sources.sources import SourceRow
from service_kit.problems import InvalidRequest

CONFIGURED = ("include", "exclude", "watch")
NULLABLE = frozenset({"every_seconds", "stale_after_seconds"})


def changed(source: SourceRow, update: SourceUpdate) -> dict[str, Any]:
    """Returns the new values of the columns that change; raises InvalidRequest and SourceRefused."""
    given = update.model_dump(exclude_unset=True)
    for field, value in given.items():
        if value is None and field not in NULLABLE:
            raise InvalidRequest(f"{field} cannot be null")
    config = {field: given.pop(field) for field in CONFIGURED if field in given}
    if "watch" in config and source.config["kind"] != "folder":
        raise InvalidRequest("only folders can be watched")
    Selection(config.get("include", []), config.get("exclude", []))
    merged = {**source.config, **config}
    return {**given, "config": merged} if merged != source.config else given
