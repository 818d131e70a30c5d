"""Administration of users: create, list, disable, enable, promote, delete."""

from __future__ import annotations

from uuid import UUID

from contracts.base import Page
from contracts.gateway import User, UserCreate, UserPatch
from gateway.accounts.administrators import Administrators
from gateway.accounts.caller import Authenticated
from gateway.accounts.users import Users
from gateway.errors import IdempotencyKeyReused, SoleOwner, UnknownUser
from service_kit.idempotency import creation_id
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection, Database


class UserAdministration:
    """Each method is one transaction, and raises NeedsAdmin for everyone but administrators."""

    def __init__(self, database: Database, administrators: Administrators) -> None:
        self.database, self.administrators = database, administrators

    async def create(self, caller: Authenticated, body: UserCreate, idempotency_key: str | None) -> User:
        """Creates a user. Raises IdempotencyKeyReused if the key created a different user, and EmailTaken."""
        caller.must_be_admin()
        user_id = creation_id(caller.credential_id, idempotency_key, "user/")
        async with self.database.workspace(caller.workspace.id) as connection:
            users = Users(connection)
            user = await users.insert(user_id, body.name, body.email) or await users.find(user_id)
        if user is None or (user.name, user.email) != (body.name, body.email):
            raise IdempotencyKeyReused
        return user

    async def page(self, caller: Authenticated, limit: int, cursor: str | None) -> Page[User]:
        caller.must_be_admin()
        async with self.database.workspace(caller.workspace.id) as connection:
            rows = await Users(connection).list(*decode_cursor(cursor), limit + 1)
        return page(rows, limit, lambda user: (user.created_at, user.id))

    async def change(self, caller: Authenticated, user_id: UUID, body: UserPatch) -> User:
        """Changes the user; disables or enables the user, grants or withdraws the administrator's powers.

        A disabled user's keys are refused at once in every replica, as each request looks its key up. The user's web
        sessions end. Raises EmailTaken.
        """
        caller.must_be_admin()
        async with self.database.system() as connection:
            if body.disabled or body.is_admin is False:
                await self._may_lose(connection, user_id)
            user = await Users(connection).change(user_id, body)
        if user is None:
            raise UnknownUser
        return user

    async def delete(self, caller: Authenticated, user_id: UUID) -> None:
        """Deletes the user with memberships, keys and invitations.

        Raises SoleOwner if a workspace would be left without an owner.
        """
        caller.must_be_admin()
        async with self.database.system() as connection:
            await self._may_lose(connection, user_id)
            users = Users(connection)
            if orphaned := await users.sole_owner_of(user_id):
                listed = [str(one) for one in orphaned]
                raise SoleOwner(f"the only owner of {len(listed)}: {', '.join(listed[:5])}", workspaces=listed)
            await users.delete(user_id)

    async def _may_lose(self, connection: Connection, user_id: UUID) -> None:
        """Raises UnknownUser, and LastAdministrator if the user is the only administrator with access."""
        await self.administrators.lock(connection)
        user = await Users(connection).find(user_id)
        if user is None:
            raise UnknownUser
        if user.is_admin and user.disabled_at is None:
            await self.administrators.must_remain(connection, without=user_id)
