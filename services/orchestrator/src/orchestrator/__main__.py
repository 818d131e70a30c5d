"""python -m orchestrator serve | migrate | replay | rotate-settings-key"""

from __future__ import annotations

import asyncio
import sys

from service_kit import command

NAME = "orchestrator"


def run_service() -> None:
    # Imported here because migrations, which run before every start, need none of it.
    from orchestrator.app import create_app
    from orchestrator.settings import Settings
    from service_kit.serve import serve

    settings = Settings()
    serve(NAME, settings, lambda: create_app(settings))


def migrate() -> None:
    command.apply_migrations(NAME, NAME)


def replay() -> None:
    from contracts.events import DOCUMENTS

    command.replay_dead_letters([DOCUMENTS], NAME)


def rotate_settings_key() -> None:
    """Seals the secrets of all workspaces with the first key of SETTINGS_KEY, and prints how many there were."""
    from orchestrator.configuration.sealing import SecretSeal, SettingsKeyInvalid
    from orchestrator.configuration.store import rotate
    from orchestrator.settings import RotationSettings
    from service_kit.postgres import Database

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
                "replay": ("replay dead letters", replay),
                "rotate-settings-key": ("seal all secrets with the first SETTINGS_KEY", rotate_settings_key),
                "migrate": ("create or upgrade the schema", migrate),
            },
        )
    )
