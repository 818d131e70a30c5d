"""python -m orchestrator serve | migrate | replay | rotate-settings-key"""

from __future__ import annotations

import asyncio
import sys

from contracts.events import DOCUMENTS
from orchestrator.app import create_app
from orchestrator.configuration.sealing import SecretSeal, SettingsKeyInvalid
from orchestrator.configuration.store import rotate
from orchestrator.settings import RotationSettings, Settings
from service_kit import command
from service_kit.postgres import Database
from service_kit.serve import serve

NAME = "orchestrator"


def run_service() -> None:
    settings = Settings()
    serve(NAME, settings, lambda: create_app(settings))


def migrate() -> None:
    command.apply_migrations(NAME, NAME)


def rotate_settings_key() -> None:
    """Seals the secrets of all workspaces with the first key of SETTINGS_KEY, and prints how many there were."""
    settings = RotationSettings()
    seal = SecretSeal.parse(settings.settings_key.get_secret_value())
    if seal is None:
        raise SettingsKeyInvalid(SettingsKeyInvalid.__doc__)

    async def run() -> int:
        database = Database(settings.database_url.get_secret_value(), 1)
        async with database.opened():
            return await rotate(database, seal)

    sys.stdout.write(f"{asyncio.run(run())} secrets were encrypted again with the key {seal.key_id}\n")


if __name__ == "__main__":
    sys.exit(
        command.run(
            NAME,
            {
                "serve": ("answer requests and work on runs", run_service),
                "replay": ("replay dead letters", lambda: command.replay_dead_letters([DOCUMENTS], NAME)),
                "rotate-settings-key": ("seal all secrets with the first SETTINGS_KEY", rotate_settings_key),
                "migrate": ("create or upgrade the schema", migrate),
            },
        )
    )
