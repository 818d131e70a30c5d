"""The environment of a converter, and of those that use one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from service_kit.settings import Environment


class SandboxSettings(Environment):
    """Where files are converted and archives are taken apart."""

    converter_socket: Path | None = None
    """The Unix socket of a converter in a container without networks; unset: in processes of this container"""


class ConverterSettings(Environment):
    """`python -m ingestion converter`: a container for conversions alone, without secrets and networks."""

    converter_socket: Path
    """Where it listens; only processes of its own user may connect"""
    work_folder: Path = Path(tempfile.gettempdir())
    """Room for what conversions write"""
    log_level: str = "INFO"
