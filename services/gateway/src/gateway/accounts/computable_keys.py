"""Finds the API keys to revoke after an upgrade from 0.1.0: their secrets came from one that services shared."""

from __future__ import annotations

import logging

from gateway.accounts.keys import ComputableKey, KeysOfAllWorkspaces
from service_kit.postgres import Database

log = logging.getLogger(__name__)
MOST_LOGGED = 50
HEADER = ("workspace id", "workspace", "key id", "key", "user", "role", "created", "last used")


async def computable_keys(database: Database) -> list[ComputableKey]:
    """Returns such keys of all workspaces that are not revoked yet, oldest first."""
    async with database.system() as connection:
        return await KeysOfAllWorkspaces(connection).computable()


async def warn_of_computable_keys(database: Database) -> None:
    """Logs how many there are, the first ids, and how to list them all."""
    if found := await computable_keys(database):
        log.warning(
            "API keys created by 0.1.0 could be computed by anyone who had INTERNAL_TOKEN_SECRET: list them with"
            " `python -m gateway computable-keys` and revoke them",
            extra={"keys": len(found), "key_ids": [str(key.id) for key in found[:MOST_LOGGED]]},
        )


def table(keys: list[ComputableKey]) -> str:
    """Returns the keys as tab-separated lines below a header."""
    rows = [
        (
            str(key.workspace_id),
            key.workspace_name,
            str(key.id),
            key.name,
            key.user_name,
            key.role,
            f"{key.created_at:%Y-%m-%d}",
            f"{key.last_used_at:%Y-%m-%d}" if key.last_used_at else "never",
        )
        for key in keys
    ]
    return "".join("\t".join(row) + "\n" for row in (HEADER, *rows))
