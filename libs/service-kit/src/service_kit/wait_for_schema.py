"""Waits until the schema fits this version: `python -m service_kit.wait_for_schema PACKAGE`.

For deployments that start services and migrations together. It has the service's own role, which cannot migrate.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from service_kit.migrate import SchemaUnfit
from service_kit.problems import Unavailable
from service_kit.schema import require_schema
from service_kit.settings import DatabaseSettings

PAUSE_SECONDS = 2.0


async def wait_for_schema(
    settings: DatabaseSettings, package: str, tell: Callable[[str], object], pause_seconds: float = PAUSE_SECONDS
) -> None:
    """Returns when the code can run on the schema; until then, `tell` gets each new reason why it cannot."""
    printed = None
    while True:
        try:
            await require_schema(settings, package)
        except (SchemaUnfit, Unavailable) as error:
            if (reason := str(error)) != printed:
                tell(f"{package}: waiting: {reason}\n")
            printed = reason
        else:
            return
        # Nothing can notify it: the role may not exist yet.
        await asyncio.sleep(pause_seconds)


if __name__ == "__main__":
    asyncio.run(wait_for_schema(DatabaseSettings(), sys.argv[1], sys.stderr.write))
