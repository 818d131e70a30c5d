"""python -m orchestrator serve | migrate | replay"""

from __future__ import annotations

import sys

from contracts.events import DOCUMENTS
from orchestrator import checkpoints
from orchestrator.app import create_app
from orchestrator.settings import Settings
from service_kit import command
from service_kit.serve import serve
from service_kit.settings import MigrationSettings

NAME = "orchestrator"


def run_service() -> None:
    settings = Settings()
    serve(NAME, settings, lambda: create_app(settings))


def migrate() -> None:
    command.apply_migrations(NAME, NAME)
    checkpoints.prepare(MigrationSettings().admin_database_url.get_secret_value(), NAME)


if __name__ == "__main__":
    sys.exit(
        command.run(
            NAME,
            {
                "serve": ("answer requests and work on runs", run_service),
                "replay": ("replay dead letters", lambda: command.replay_dead_letters([DOCUMENTS], NAME)),
                "migrate": ("create or upgrade the schema, with LangGraph's checkpoint tables", migrate),
            },
        )
    )
