"""python -m backup serve | now | list | verify | restore | migrate: the container `backup` of Compose."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import shutil
import sys
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from backup.container.serve import BackupService
from backup.container.settings import SHELF, ContainerSettings, RestoreSettings
from backup.container.target import EmptyVolumes
from backup.errors import BackupError
from backup.progress import LineProgress
from backup.restore import parse_moment, restore
from backup.server import prepare_server
from backup.shelf.folder import BackupShelf
from backup.shelf.verification import verify_all
from backup.take import Installation, take
from backup.tools import Tools
from service_kit.command import WithArguments, run
from service_kit.settings import MigrationSettings


def main() -> int:
    try:
        return run(
            "backup",
            {
                "serve": ("receives the log, and takes a backup each night (02:00 UTC)", _serve),
                "now": ("takes a backup now", _now),
                "list": ("lists the backups", _list),
                "verify": ("verifies every file of every backup", _verify),
                "restore": WithArguments("restores into empty volumes", _restore, _declare_restore),
                "migrate": ("prepares the database for backups: their role and settings", _migrate),
            },
        )
    except BackupError as error:
        sys.stderr.write(f"backup: {error}\n")
        return 1


def _tools() -> Tools:
    """Returns the tools of PostgreSQL's image."""
    found = shutil.which("postgres")  # Debian has wrappers of some of its tools elsewhere
    if found is None:
        raise BackupError("PostgreSQL is not installed here: this runs in the container `backup` of Compose")
    kept = ("PATH", "HOME", "TMPDIR")
    return Tools(Path(found).parent, {"LC_ALL": "C", **{name: os.environ[name] for name in kept if name in os.environ}})


def _serve() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    asyncio.run(BackupService(ContainerSettings(), _tools(), BackupShelf(SHELF)).run())


def _now() -> None:
    settings, progress = ContainerSettings(), LineProgress()
    installation = Installation(settings.database_url.get_secret_value(), settings, SHELF)
    taken = take(installation, _tools(), BackupShelf(SHELF), settings.backup_days, progress)
    progress.line(taken.summary())


def _list() -> None:
    for one in BackupShelf(SHELF).backups():
        sys.stdout.write(
            f"{one.name}  {one.kind:<11}  any moment from {one.database_at:%Y-%m-%d %H:%M:%S} UTC on  "
            f"version {one.version}  {one.size()}\n"
        )


def _verify() -> None:
    verify_all(BackupShelf(SHELF), _tools(), LineProgress())


def _declare_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", metavar="MOMENT", help='such as "2026-11-20 14:03" (UTC); without: as late as possible')


def _restore(arguments: argparse.Namespace) -> None:
    tools, progress = _tools(), LineProgress()
    target = EmptyVolumes(RestoreSettings(), tools)
    restore(target, tools, BackupShelf(SHELF), parse_moment(arguments.to), progress)


def _migrate() -> None:
    settings = MigrationSettings()
    password = conninfo_to_dict(settings.database_url.get_secret_value())["password"]
    with contextlib.closing(psycopg.connect(settings.admin_database_url.get_secret_value(), autocommit=True)) as admin:
        prepare_server(admin, str(password))


if __name__ == "__main__":
    sys.exit(main())
