"""python -m retrieval serve | migrate | replay"""

import sys

from service_kit.command import apply_migrations, replay_dead_letters, run


def start() -> None:
    # Imported here because migrations, which run before every start, need none of it.
    from retrieval.app import create_app
    from retrieval.settings import Settings
    from service_kit.serve import serve

    settings = Settings()
    serve("retrieval", settings, lambda: create_app(settings))


def replay() -> None:
    from contracts.events import DOCUMENTS
    from retrieval.index.consumer import GROUP

    replay_dead_letters([DOCUMENTS], GROUP)


if __name__ == "__main__":
    sys.exit(
        run(
            "retrieval",
            {
                "serve": ("run the service", start),
                "migrate": ("apply new migrations", lambda: apply_migrations("retrieval", "retrieval")),
                "replay": ("replay dead letters", replay),
            },
        )
    )
