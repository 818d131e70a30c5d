"""Processes that read hostile bytes: walled off from secrets, networks, other files and other processes.

`Sandbox` starts them, `Wall` says which walls this machine has. Nothing here knows what they read.
"""

from ingestion.sandbox.client import ResourceUsage, Sandbox, SandboxedProcess
from ingestion.sandbox.config import SandboxConfig
from ingestion.sandbox.launching import SandboxUnavailable
from ingestion.sandbox.walls import Wall, refuse_inspection

__all__ = [
    "ResourceUsage",
    "Sandbox",
    "SandboxConfig",
    "SandboxUnavailable",
    "SandboxedProcess",
    "Wall",
    "refuse_inspection",
]
