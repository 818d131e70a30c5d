"""python -m retrieval serve | migrate | replay"""

import sys

from contracts.events import DOCUMENTS
from retrieval.app import create_app
from retrieval.index.consumer import GROUP
from retrieval.settings import Settings
from service_kit.command import apply_migrations, replay_dead_letters, run
from service_kit.serve import serve


def start() -> None:
    settings = Settings()
    serve("retrieval", settings, lambda: create_app(settings))


if __name__ == "__main__":
    sys.exit(
        run(
            "retrieval",
            {
                "serve": ("run the service", start),
                "migrate": ("apply new migrations", lambda: apply_migrations("retrieval", "retrieval")),
                "replay": ("replay dead letters", lambda: replay_dead_letters([DOCUMENTS], GROUP)),
            },
        )
    )
