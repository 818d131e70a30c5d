"""Settings of a converter, and of processes that use one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from service_kit.settings import Environment, LogLevel


class SandboxSettings(Environment):
    """The place where files are converted and archives are expanded."""

    converter_socket: Path | None = None
    """The Unix socket of a converter in a container without networks; unset: child processes in this container"""


class ConverterSettings(Environment):
    """`python -m ingestion converter`: a container that only converts, without secrets or networks."""

    converter_socket: Path
    """The socket to listen on; only processes of the same user may connect"""
    work_folder: Path = Path(tempfile.gettempdir())
    """Where conversions write their files"""
    log_level: LogLevel = "INFO"
