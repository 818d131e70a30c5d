"""PostgreSQL's own tools, as backups and the receiver of the log use them."""

from __future__ import annotations

from backup.tools import Tools
from embedded.engines.engine import plain_environment
from embedded.engines.postgres import installed


def tools() -> Tools:
    """Returns the tools of the wheel. Raises NoEngine."""
    return Tools(installed() / "bin", plain_environment())
