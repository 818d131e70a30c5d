"""The module of each kind of source, loaded when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from ingestion.sources.source import SourceKind

KINDS = ("folder", "s3", "web", "git")


def kind_module(kind: str) -> SourceKind[Any]:
    """`kind` is one of KINDS."""
    assert kind in KINDS
    return cast(SourceKind[Any], import_module(f"ingestion.sources.{kind}"))
