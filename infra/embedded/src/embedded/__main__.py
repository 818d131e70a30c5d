"""python -m embedded run | stop | reset | status | backup | restore"""

from __future__ import annotations

import argparse
import errno
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from backup.errors import BackupError
from embedded.data_folder import DEFAULT_NAME, DataFolder
from embedded.errors import EmbeddedError
from embedded.launcher import Launcher, stop
from embedded.progress import StartProgress, interactive
from embedded.removal import remove
from embedded.topology import user_settings

if TYPE_CHECKING:
    from backup.shelf.folder import BackupShelf

ROOT = Path(__file__).resolve().parents[4]
BACKUP_DAYS = 14


def main() -> int:
    arguments = _parser().parse_args()
    progress = StartProgress()
    try:
        settings = user_settings(ROOT / ".env")
        folder = DataFolder(Path(settings.get("ATTRACTOR_DATA") or ROOT / DEFAULT_NAME))
        return _COMMANDS[arguments.command](arguments, folder, settings, progress)
    except (EmbeddedError, BackupError) as error:
        progress.error(str(error))
    except KeyboardInterrupt:
        progress.error("interrupted")
    except OSError as error:
        progress.error(_explained(error))
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m embedded", description="Attractor without Docker.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="start everything and stay")
    run.add_argument("--no-demo", action="store_true", help="do not ingest the examples and ask a question")
    commands.add_parser("stop", help="stop a run from another terminal")
    reset = commands.add_parser("reset", help="delete all data")
    reset.add_argument("--yes", action="store_true", help="do not ask")
    commands.add_parser("status", help="what runs, and how much memory it takes")
    commands.add_parser("backup", help="take a backup, beside a run or without one")
    restoring = commands.add_parser("restore", help="restore into an empty data folder, then start everything and stay")
    restoring.add_argument(
        "--to", metavar="MOMENT", help='such as "2026-11-20 14:03" (zone of this machine); without: as late as possible'
    )
    return parser


def _run(arguments: argparse.Namespace, folder: DataFolder, settings: dict[str, str], progress: StartProgress) -> int:
    Launcher(ROOT, folder, settings, progress).run(demo=not arguments.no_demo)
    return 0


def _stop(
    _arguments: argparse.Namespace, folder: DataFolder, _settings: dict[str, str], progress: StartProgress
) -> int:
    if not stop(folder, progress):
        progress.say("Attractor is not running.")
    return 0


def _reset(
    arguments: argparse.Namespace, folder: DataFolder, _settings: dict[str, str], progress: StartProgress
) -> int:
    if not folder.path.exists():
        progress.say(f"There is nothing to delete: {folder.path} does not exist.")
        return 0
    if not arguments.yes:
        if not interactive():
            raise EmbeddedError(f"no terminal to confirm the deletion of all data in {folder.path}: add --yes")
        progress.say(f"This deletes all documents, accounts and settings in {folder.path}.")
        if input("Delete? [y/N] ").strip().lower() not in {"y", "yes"}:
            return 1
    stop(folder, progress)
    remove(folder)
    progress.say(f"Deleted the data in {folder.path}.")
    return 0


def _status(
    _arguments: argparse.Namespace, folder: DataFolder, _settings: dict[str, str], progress: StartProgress
) -> int:
    holder = folder.holder()
    if not holder:
        progress.say("Attractor is not running.")
        return 3
    progress.say(f"Attractor is running at {holder.get('url')} (process {holder.get('pid')}) on {folder.path}")
    for name, process in folder.living().items():
        family = [process, *process.children(recursive=True)]
        progress.say(f"  {name:<18} process {process.pid:<8} {sum(map(_resident, family)) // 2**20:>6} MB")
    return 0


def _backup(
    _arguments: argparse.Namespace, folder: DataFolder, settings: dict[str, str], progress: StartProgress
) -> int:
    # Imported here, as what follows, because every start would wait for it.
    from embedded.backups.installation import back_up

    shelf = _shelf(folder, settings)
    taken = back_up(folder, shelf, _days(settings), progress)
    progress.line(f"{taken.summary()}, in {shelf.path}")
    if shelf.path.stat().st_dev == folder.path.stat().st_dev:
        progress.warn("the backups are on the same disk as the data: set BACKUP_FOLDER to a folder on another one")
    return 0


def _restore(
    arguments: argparse.Namespace, folder: DataFolder, settings: dict[str, str], progress: StartProgress
) -> int:
    from backup.restore import parse_moment, restore
    from embedded.backups.target import EmptyDataFolder
    from embedded.backups.tools import tools

    restore(EmptyDataFolder(folder), tools(), _shelf(folder, settings), parse_moment(arguments.to), progress)
    Launcher(ROOT, folder, settings, progress).run(demo=False)
    return 0


def _shelf(folder: DataFolder, settings: dict[str, str]) -> BackupShelf:
    from backup.shelf.folder import BackupShelf

    return BackupShelf(Path(settings.get("BACKUP_FOLDER") or folder.path.with_name(f"{folder.path.name}-backups")))


def _days(settings: dict[str, str]) -> int:
    text = settings.get("BACKUP_DAYS") or str(BACKUP_DAYS)
    if not text.isdecimal():
        raise EmbeddedError(f"BACKUP_DAYS is {text!r}: set it to a number of days")
    return int(text)


def _resident(process: psutil.Process) -> int:
    """Returns resident memory in bytes; shared memory counts once if the system reports PSS (Linux)."""
    try:
        full = process.memory_full_info()
        return int(getattr(full, "pss", full.rss))
    except psutil.AccessDenied:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _explained(error: OSError) -> str:
    place = error.filename or "the data folder"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk of {place} is full: delete something, or set ATTRACTOR_DATA to a folder on another disk"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR):
        return f"{place} cannot be used ({error.strerror}): set ATTRACTOR_DATA to a folder of yours"
    return f"{place}: {error.strerror or error}"


_COMMANDS = {
    "run": _run,
    "stop": _stop,
    "reset": _reset,
    "status": _status,
    "backup": _backup,
    "restore": _restore,
}

if __name__ == "__main__":
    sys.exit(main())
