"""The quick actions that a caller sees: the caller's own, and the workspace's."""

from __future__ import annotations

from uuid import UUID, uuid4

from contracts.base import Page
from contracts.gateway import Role
from contracts.quick_actions import QuickAction, QuickActionCreate, QuickActionUpdate
from orchestrator.errors import QuickActionNotFound, SharedQuickAction, TooManyQuickActions
from service_kit.pagination import decode_cursor, page
from service_kit.problems import PreconditionFailed
from service_kit.repository import CallerRepository
from service_kit.statements import Statements

MOST = 200


class QuickActionSql(Statements, file="quick_actions.sql", columns=", ".join(QuickAction.model_fields)):
    create: str
    count: str
    one_at_a_time: str
    find: str
    page: str
    change: str
    delete: str


class CallerQuickActions(CallerRepository):
    """The caller's quick actions. Only editors and owners change shared ones."""

    async def create(self, action: QuickActionCreate) -> QuickAction:
        """Raises SharedQuickAction, TooManyQuickActions."""
        self._check_role(action.shared)
        await self.run(QuickActionSql.one_at_a_time)
        if await self.value(QuickActionSql.count, shared=action.shared) >= MOST:
            raise TooManyQuickActions(f"There may be {MOST} of a user, and {MOST} of a workspace")
        made = await self.one(QuickActionSql.create, QuickAction, id=uuid4(), **action.model_dump())
        assert made is not None
        return made

    async def find(self, action_id: UUID) -> QuickAction:
        """Raises QuickActionNotFound."""
        found = await self.one(QuickActionSql.find, QuickAction, id=action_id)
        if found is None:
            raise QuickActionNotFound
        return found

    async def page(self, limit: int, cursor: str | None) -> Page[QuickAction]:
        """Returns the oldest first."""
        at, after = decode_cursor(cursor)
        rows = await self.all(QuickActionSql.page, QuickAction, after_at=at, after_id=after, limit=limit + 1)
        return page(rows, limit, lambda one: (one.created_at, one.id))

    async def change(self, action_id: UUID, change: QuickActionUpdate, version: int | None) -> QuickAction:
        """Raises QuickActionNotFound, SharedQuickAction, PreconditionFailed."""
        found = await self.find(action_id)
        self._check_role(found.shared)
        changed = await self.one(
            QuickActionSql.change, QuickAction, id=action_id, version=version, **change.model_dump()
        )
        if changed is None:
            raise await self._stale(action_id)
        return changed

    async def delete(self, action_id: UUID, version: int | None) -> None:
        """Raises QuickActionNotFound, SharedQuickAction, PreconditionFailed."""
        found = await self.find(action_id)
        self._check_role(found.shared)
        if not await self.run(QuickActionSql.delete, id=action_id, version=version):
            raise await self._stale(action_id)

    async def _stale(self, action_id: UUID) -> PreconditionFailed:
        now = await self.find(action_id)
        return PreconditionFailed(f"The quick action is now at version {now.version}")

    def _check_role(self, shared: bool) -> None:
        if shared and self.caller.role is Role.viewer:
            raise SharedQuickAction
