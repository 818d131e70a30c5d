"""python -m memory serve | migrate | replay"""

import sys

from service_kit.command import apply_migrations, replay_dead_letters, run

NAME = "memory"


def start() -> None:
    # Imported here because migrations, which run before every start, need none of it.
    from memory.app import create_app
    from memory.settings import Settings
    from service_kit.serve import serve

    settings = Settings()
    serve(NAME, settings, lambda: create_app(settings))


def replay() -> None:
    from contracts.events import DOCUMENTS, TURNS

    replay_dead_letters([DOCUMENTS, TURNS], NAME)


if __name__ == "__main__":
    sys.exit(
        run(
            NAME,
            {
                "serve": ("run the service", start),
                "migrate": ("apply new migrations", lambda: apply_migrations(NAME, NAME)),
                "replay": ("replay dead letters", replay),
            },
        )
    )
