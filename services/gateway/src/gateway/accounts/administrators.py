"""At least one administrator can always get in: what could take the last one away asks here first."""

from __future__ import annotations

from uuid import UUID

from gateway.accounts.keys import KeysOfAllWorkspaces
from gateway.errors import LastAdministrator, LastAdminKey
from service_kit.postgres import Connection


async def lock_administrators(connection: Connection) -> None:
    """Takes turns until the transaction ends: two changes must not each count on whom the other one takes away.

    To be taken before any row is locked.
    """
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('gateway/administrators'))")


async def must_not_be_the_last(connection: Connection, user_id: UUID) -> None:
    """Raises LastAdministrator if nobody besides the user can get in as an administrator.

    `connection` is a transaction of `Database.system` that holds the lock.
    """
    if not await KeysOfAllWorkspaces(connection).has_admin_key(besides=user_id):
        raise LastAdministrator


async def must_have_a_key_outside(connection: Connection, workspace_id: UUID) -> None:
    """Raises LastAdminKey if no administrator has a key of another workspace; as above."""
    if not await KeysOfAllWorkspaces(connection).has_admin_key(outside=workspace_id):
        raise LastAdminKey
