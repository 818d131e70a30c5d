"""python -m gateway serve | migrate | replay"""

from __future__ import annotations

import sys

from contracts.events import DOCUMENTS
from contracts.registry import GATEWAY
from gateway.app import create_app
from gateway.settings import Settings
from service_kit.command import apply_migrations, replay_dead_letters, run
from service_kit.serve import serve


def _serve() -> None:
    settings = Settings()
    serve("gateway", settings, lambda: create_app(settings), settings.max_connections_per_address)


def _migrate() -> None:
    apply_migrations("gateway", "gateway")


if __name__ == "__main__":
    sys.exit(
        run(
            "gateway",
            {
                "serve": ("answers HTTP until it is stopped", _serve),
                "migrate": ("creates or updates the gateway's tables", _migrate),
                "replay": ("replays dead letters", lambda: replay_dead_letters([DOCUMENTS], GATEWAY)),
            },
        )
    )
