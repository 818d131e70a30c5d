"""What a fork server is started with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class SandboxConfig:
    """`task` is `module:function`, called with its connection; `preload` a module that is imported before.

    `readable` are paths beyond Python's own; `folder` is where processes get their own, by default the system's.
    `programs`: the task starts programs. `is_apart`: nothing but conversions runs in this container.
    """

    task: str
    preload: str
    readable: tuple[str, ...] = ()
    folder: str | None = None
    programs: bool = False
    is_apart: bool = False

    def written(self) -> str:
        return json.dumps(asdict(self))
