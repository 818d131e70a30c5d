"""The tables of users' identities at providers, and of sign-ins in progress."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.gateway import User
from gateway.errors import IdentityTaken
from service_kit.repository import SystemRepository
from service_kit.statements import Statements


class IdentitySql(Statements, file="identities.sql"):
    insert_request: str
    take_request: str
    delete_ended: str
    find_user: str
    insert_identity: str


@dataclass(frozen=True)
class BegunSignIn:
    """`user_id`: the user who was signed in and will get the identity."""

    nonce: str
    code_verifier: str
    user_id: UUID | None
    is_open: bool


class Identities(SystemRepository):
    async def begin(
        self, state_sha256: bytes, nonce: str, code_verifier: str, user_id: UUID | None, seconds: int
    ) -> None:
        values = {"state_sha256": state_sha256, "nonce": nonce, "code_verifier": code_verifier}
        await self.run(IdentitySql.delete_ended)
        await self.run(IdentitySql.insert_request, **values, user_id=user_id, seconds=seconds)

    async def take(self, state_sha256: bytes) -> BegunSignIn | None:
        """Returns the sign-in begun with this state, and deletes it, so that it is used only once."""
        found = await self.one(IdentitySql.take_request, BegunSignIn, state_sha256=state_sha256)
        return found if found and found.is_open else None

    async def user(self, issuer: str, subject: str) -> User | None:
        return await self.one(IdentitySql.find_user, User, issuer=issuer, subject=subject)

    async def link(self, issuer: str, subject: str, user_id: UUID) -> None:
        """Links the identity to the user. Raises IdentityTaken if it already has a user."""
        if not await self.run(IdentitySql.insert_identity, issuer=issuer, subject=subject, user_id=user_id):
            raise IdentityTaken
