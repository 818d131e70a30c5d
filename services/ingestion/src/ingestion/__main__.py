"""`python -m ingestion <command>`; `--help` lists the commands."""

from __future__ import annotations

import argparse
import signal
import sys
from uuid import UUID


def main() -> int:
    # Imports are local because conversion processes import this module, and the API's image lacks the worker's
    # libraries.
    from service_kit import command

    return command.run(
        "ingestion",
        {
            "serve": ("Run the API", _serve),
            "worker": ("Convert, chunk and embed", _worker),
            "converter": ("Convert for workers in other containers, which reach it by a socket alone", _converter),
            "migrate": ("Bring the schema up to date", lambda: command.apply_migrations("ingestion", "ingestion")),
            "reconcile": command.WithArguments(
                "Compare object store, database, index and graph; --repair mends what differs",
                _reconcile,
                _declare_reconcile,
            ),
            "replay": ("Deliver the dead letters again", _replay),
        },
    )


def _replay() -> None:
    from contracts.events import DOCUMENTS
    from service_kit.command import replay_dead_letters

    replay_dead_letters([DOCUMENTS], "ingestion")


def _serve() -> None:
    from ingestion.app import NAME, create_app
    from ingestion.settings import Settings
    from service_kit.sandbox import refuse_inspection
    from service_kit.serve import serve

    settings = Settings()
    refuse_inspection()
    serve(NAME, settings, lambda: create_app(settings))


def _worker() -> None:
    from ingestion.worker.run import run_worker

    run_worker()


def _converter() -> None:
    from ingestion.converter_settings import ConverterSettings
    from service_kit.own_folder import own_folder
    from service_kit.sandbox.listener import listen
    from service_kit.telemetry import configure_telemetry

    settings = ConverterSettings()
    configure_telemetry("ingestion-converter", settings.log_level, None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with own_folder(settings.work_folder, "conversions-") as folder:
        listen(settings.converter_socket, folder)


def _declare_reconcile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repair", action="store_true", help="repair what can be repaired")
    parser.add_argument("--workspace", type=UUID, metavar="ID", help="only this workspace")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def _reconcile(arguments: argparse.Namespace) -> None:
    from ingestion.reconciliation.command import reconcile_command

    reconcile_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
