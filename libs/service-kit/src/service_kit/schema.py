"""Which migrations a service's schema has, and whether this version of the code can run on them."""

from __future__ import annotations

from psycopg.errors import InsufficientPrivilege, UndefinedColumn, UndefinedTable

from service_kit.migrate import SchemaUnfit, migrations, short_name
from service_kit.postgres import Database
from service_kit.settings import DatabaseSettings
from service_kit.version import VERSION


async def require_schema(settings: DatabaseSettings, package: str) -> None:
    """Returns if the code can run on the schema, which may be newer than the code. Raises SchemaUnfit, Unavailable."""
    async with Database(settings.database_url.get_secret_value(), 1).opened() as database:
        await _check(database, package)


async def _check(database: Database, package: str) -> None:
    known = [name for part in ("service_kit", package) for name, _ in migrations(part)]
    migrate_first = f"run `python -m {package} migrate` of this version first"
    try:
        async with database.system() as connection:
            applied = dict(await (await connection.execute("SELECT name, requires FROM migration")).fetchall())
    except (UndefinedTable, UndefinedColumn, InsufficientPrivilege) as error:
        raise SchemaUnfit(f"the schema is older than this version: {migrate_first}") from error
    if missing := [name for name in known if name not in applied]:
        raise SchemaUnfit(f"the schema lacks {', '.join(missing[:3])}{' …' * (len(missing) > 3)}: {migrate_first}")
    for name, required in applied.items():
        if required and required not in known:
            raise SchemaUnfit(f"the schema has {name}, for which version {VERSION} is too old: start a newer version")


async def newest_migration(database: Database, package: str) -> str:
    """Returns the newest migration of the service itself that its schema has, for example `0031_project_status`."""
    statement = 'SELECT max(name COLLATE "C") FROM migration WHERE starts_with(name, %s)'
    async with database.system() as connection:
        row = await (await connection.execute(statement, (f"{package}/",))).fetchone()
    assert row is not None, "an aggregate gives a row"
    return short_name(row[0] or "")
