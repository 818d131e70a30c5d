"""Processes that read hostile bytes: walled off from secrets, networks, other files and other processes.

`Sandbox` starts them, `Wall` says which walls this machine has. Nothing here depends on what they read.
"""

from service_kit.sandbox.client import ResourceUsage, Sandbox, SandboxedProcess
from service_kit.sandbox.config import SandboxConfig
from service_kit.sandbox.launching import SandboxUnavailable
from service_kit.sandbox.walls import Wall, refuse_inspection

__all__ = [
    "ResourceUsage",
    "Sandbox",
    "SandboxConfig",
    "SandboxUnavailable",
    "SandboxedProcess",
    "Wall",
    "refuse_inspection",
]
