"""The command line of a service: `python -m <service> serve | migrate | replay`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import OperationalError
from pydantic import ValidationError

from service_kit.migrate import MigrationBlocked, MigrationChanged, SchemaUnfit, migrate
from service_kit.problems import Unavailable
from service_kit.settings import MigrationSettings, RedisSettings

STARTUP_FAILED = 3
SCHEMA_UNFIT = 4
EXIT_CODES: Mapping[type[Exception], int] = {
    MigrationBlocked: 1,
    MigrationChanged: 1,
    Unavailable: STARTUP_FAILED,
    OperationalError: STARTUP_FAILED,
    SchemaUnfit: SCHEMA_UNFIT,
}


def apply_migrations(schema: str, package: str) -> None:
    """Applies new migrations and prints their names; reads DATABASE_URL and ADMIN_DATABASE_URL."""
    settings = MigrationSettings()
    new = migrate(
        settings.admin_database_url.get_secret_value(), settings.database_url.get_secret_value(), schema, package
    )
    sys.stdout.write(f"{schema}: applied {', '.join(new) if new else 'nothing, all is current'}\n")


def replay_dead_letters(streams: Sequence[str], group: str) -> None:
    """Puts the group's dead letters back on their streams; reads REDIS_URL."""
    # Imported here because migrations, which run before every start, need neither.
    from redis.asyncio import Redis  # noqa: PLC0415
    from redis.exceptions import RedisError  # noqa: PLC0415

    from service_kit.streams import replay  # noqa: PLC0415

    async def run() -> None:
        async with Redis.from_url(RedisSettings().redis_url.get_secret_value()) as redis:
            for stream in streams:
                sys.stdout.write(f"{stream}: {await replay(redis, stream, group)} events replayed\n")

    try:
        asyncio.run(run())
    except RedisError as error:
        raise Unavailable(f"Redis cannot be used: {error}") from error


@dataclass(frozen=True)
class WithArguments:
    """A command with its own arguments."""

    help: str
    run: Callable[[argparse.Namespace], None]
    declare: Callable[[argparse.ArgumentParser], None]


def run(name: str, commands: Mapping[str, tuple[str, Callable[[], None]] | WithArguments]) -> int:
    """Runs one of `commands` (help and function by name). Returns the exit code.

    Wrong settings, a schema that does not fit and a store that does not answer are named in one line.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {name}")
    chosen = parser.add_subparsers(dest="command", required=True)
    for name_, command in commands.items():
        if isinstance(command, WithArguments):
            command.declare(chosen.add_parser(name_, help=command.help, description=command.help))
        else:
            chosen.add_parser(name_, help=command[0], description=command[0])
    arguments = parser.parse_args()
    command = commands[arguments.command]
    try:
        command.run(arguments) if isinstance(command, WithArguments) else command[1]()
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors())
        sys.stderr.write(f"{name}: wrong settings: {wrong}\n")
        return 2
    except tuple(EXIT_CODES) as error:
        sys.stderr.write(f"{name}: {' '.join(str(error).split())}\n")
        return next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
    return 0
