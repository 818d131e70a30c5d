"""The statements of the `sql` folder, read once when the process starts."""

from __future__ import annotations

from service_kit.queries import load

SQL = load("ingestion.sources")
