"""Makes sure that at least one administrator always has access: what could remove the last one checks here."""

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
    """The administrators who have access: with a key, by password, or through the OpenID Connect provider `issuer`.

    Each `connection` is a transaction of `Database.system`.
    """

    issuer: str | None

    async def lock(self, connection: Connection) -> None:
        """Serialises changes until the transaction ends: two must not each remove whom the other one relies on.

        Call it before locking any row.
        """
        await connection.execute(AdministratorsSql.lock.encode())

    async def can_get_in(
        self, connection: Connection, *, outside: UUID | None = None, besides: UUID | None = None
    ) -> bool:
        """Returns whether an administrator other than this user has access to a workspace other than this one."""
        values = {"outside": outside, "besides": besides, "issuer": self.issuer}
        return bool(await SystemRepository(connection).value(AdministratorsSql.can_get_in, **values))

    async def must_remain(self, connection: Connection, without: UUID) -> None:
        """Raises LastAdministrator if no other administrator has access. The caller holds the lock."""
        if not await self.can_get_in(connection, besides=without):
            raise LastAdministrator

    async def must_get_in_outside(self, connection: Connection, workspace_id: UUID) -> None:
        """Raises LastAdminKey if no administrator has access to another workspace. The caller holds the lock."""
        if not await self.can_get_in(connection, outside=workspace_id):
            raise LastAdminKey
