"""An orchestrator process as operators start it."""

from __future__ import annotations

import logging

from orchestrator.app import create_app
from orchestrator.settings import Settings
from service_kit.serve import serve


def run(settings: Settings) -> None:
    """Serves until SIGTERM."""
    serve("orchestrator", settings.model_copy(update={"log_level": "ERROR"}), lambda: create_app(settings))
    logging.shutdown()
