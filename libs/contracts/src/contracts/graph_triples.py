"""Triples that users import into the graph."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from contracts.base import Resource


class TripleFormat(StrEnum):
    csv = "csv"
    jsonl = "jsonl"
    turtle = "turtle"


class TripleImport(Resource):
    """A named set of triples that a user imported. Its triples are provenance of their own, with the method `user` and
    the import's id in place of a document's. `notes` say what was left out, and why.
    """

    id: UUID
    name: str
    format: TripleFormat
    triples: int
    entities: int
    relations: int
    aliases: int
    notes: list[str] = []
    created_by: UUID
    created_at: datetime
    updated_at: datetime
