"""python -m gateway serve | migrate | replay | computable-keys"""

from __future__ import annotations

import asyncio
import sys

from service_kit.command import apply_migrations, replay_dead_letters, run


def _serve() -> None:
    # Imported here because migrations, which run before every start, need none of it.
    from gateway.app import create_app
    from gateway.settings import Settings
    from service_kit.serve import serve

    settings = Settings()
    serve("gateway", settings, lambda: create_app(settings), settings.max_connections_per_address, settings.tls)


def _migrate() -> None:
    apply_migrations("gateway", "gateway")


def _replay() -> None:
    from contracts.events import DOCUMENTS

    replay_dead_letters([DOCUMENTS], "gateway")


def _computable_keys() -> None:
    from gateway.accounts.computable_keys import computable_keys, table
    from service_kit.postgres import Database
    from service_kit.settings import DatabaseSettings

    async def read() -> str:
        async with Database(DatabaseSettings().database_url.get_secret_value(), 1).opened() as database:
            return table(await computable_keys(database))

    sys.stdout.write(asyncio.run(read()))


if __name__ == "__main__":
    sys.exit(
        run(
            "gateway",
            {
                "serve": ("answers HTTP until it is stopped", _serve),
                "migrate": ("creates or updates the gateway's tables", _migrate),
                "replay": ("replays dead letters", _replay),
                "computable-keys": ("lists the API keys to revoke after an upgrade from 0.1.0", _computable_keys),
            },
        )
    )
