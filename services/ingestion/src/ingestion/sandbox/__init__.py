"""Processes that read hostile bytes: walled off from secrets, networks, other files and other processes.

`Sandbox` starts them, `Wall` says which walls this machine has. Nothing here knows what they read.
"""

from ingestion.sandbox.client import Sandbox, SandboxedProcess, SandboxUnavailable, Usage
from ingestion.sandbox.config import SandboxConfig
from ingestion.sandbox.walls import Wall, refuse_inspection

__all__ = ["Sandbox", "SandboxConfig", "SandboxUnavailable", "SandboxedProcess", "Usage", "Wall", "refuse_inspection"]
