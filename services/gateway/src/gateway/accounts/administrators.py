"""At least one administrator can always get in: what could take the last one away asks here first."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from gateway.errors import LastAdministrator, LastAdminKey
from service_kit.postgres import Connection
from service_kit.repository import SystemRepository
from service_kit.statements import Statements


class AdministratorsSql(Statements, file="administrators.sql"):
    lock: str
    can_get_in: str


@dataclass(frozen=True)
class Administrators:
    """Those who can get in: with a key, by password, or at the OpenID Connect provider `issuer`.

    Each `connection` is a transaction of `Database.system`.
    """

    issuer: str | None

    async def lock(self, connection: Connection) -> None:
        """Takes turns until the transaction ends: two changes must not each count on whom the other one takes away.

        To be taken before any row is locked.
        """
        await connection.execute(AdministratorsSql.lock.encode())

    async def can_get_in(
        self, connection: Connection, *, outside: UUID | None = None, besides: UUID | None = None
    ) -> bool:
        """Returns whether an administrator besides this user can get in, to a workspace that is not this one."""
        values = {"outside": outside, "besides": besides, "issuer": self.issuer}
        return bool(await SystemRepository(connection).value(AdministratorsSql.can_get_in, **values))

    async def must_remain(self, connection: Connection, without: UUID) -> None:
        """Raises LastAdministrator if nobody besides the user can get in. The caller holds the lock."""
        if not await self.can_get_in(connection, besides=without):
            raise LastAdministrator

    async def must_get_in_outside(self, connection: Connection, workspace_id: UUID) -> None:
        """Raises LastAdminKey if nobody can get in to another workspace. The caller holds the lock."""
        if not await self.can_get_in(connection, outside=workspace_id):
            raise LastAdminKey
