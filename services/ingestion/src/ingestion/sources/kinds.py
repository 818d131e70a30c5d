"""The module of each kind of source, loaded when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from ingestion.sources.source import SourceKind


def kind_module(kind: str) -> SourceKind[Any]:
    """Returns the module that is named like the kind; the contract's configurations list the kinds."""
    return cast(SourceKind[Any], import_module(f"ingestion.sources.{kind}"))
