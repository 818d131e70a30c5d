"""The statements of the `sql` folder, read once when the process starts. The API and the workers share them."""

from __future__ import annotations

from service_kit.queries import load

SQL = load("ingestion")
