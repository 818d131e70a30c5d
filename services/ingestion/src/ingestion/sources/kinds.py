"""Loads the module of a kind of source on demand."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from ingestion.sources.source import SourceKind


def kind_module(kind: str) -> SourceKind[Any]:
    """Returns the module with the name of the kind; the configurations in the contract define the kinds."""
    return cast(SourceKind[Any], import_module(f"ingestion.sources.{kind}"))
