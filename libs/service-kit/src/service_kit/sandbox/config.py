"""The configuration of a fork server."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class SandboxConfig:
    """`task` is `module:function`, called with its connection; `preload` is a module that is imported first.

    `readable` are paths besides Python's own; `folder` holds the processes' folders, by default the system's.
    `programs`: the task starts programs. `is_apart`: only conversions run in this container.
    """

    task: str
    preload: str
    readable: tuple[str, ...] = ()
    folder: str | None = None
    programs: bool = False
    is_apart: bool = False

    def written(self) -> str:
        return json.dumps(asdict(self))
