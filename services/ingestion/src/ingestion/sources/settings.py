"""What the operator allows sources to reach. Read by the API, which checks them, the workers and the scheduler."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

from service_kit.settings import Environment


def _paths(value: object) -> object:
    return [Path(one) for one in value.split(os.pathsep) if one] if isinstance(value, str) else value


class SourceSettings(Environment):
    """`source_roots`: where folder and git sources may lie, separated as in PATH; without any, they are refused."""

    source_roots: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_paths)] = ()
