"""The account that an engine runs as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineUser:
    """The account that a child runs as."""

    uid: int
    gid: int
