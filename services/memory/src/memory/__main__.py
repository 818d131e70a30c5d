"""python -m memory serve | migrate | replay"""

import sys

from contracts.events import DOCUMENTS, TURNS
from memory.app import NAME, create_app
from memory.settings import Settings
from service_kit.command import apply_migrations, replay_dead_letters, run
from service_kit.serve import serve


def start() -> None:
    settings = Settings()
    serve(NAME, settings, lambda: create_app(settings))


if __name__ == "__main__":
    sys.exit(
        run(
            NAME,
            {
                "serve": ("run the service", start),
                "migrate": ("apply new migrations", lambda: apply_migrations(NAME, NAME)),
                "replay": ("replay dead letters", lambda: replay_dead_letters([DOCUMENTS, TURNS], NAME)),
            },
        )
    )
