from datetime import UTC, datetime
from uuid import uuid4

import pytest

from contracts.gateway import Role, User, Workspace
from gateway.accounts.caller import Authenticated
from gateway.errors import NeedsAdmin, NeedsOwner, ProtectedAdmin, UnknownWorkspace


def caller(role: Role, is_admin: bool = False) -> Authenticated:
    now = datetime.now(UTC)
    user = User(id=uuid4(), name="u", is_admin=is_admin, created_at=now)
    return Authenticated(uuid4(), user, Workspace(id=uuid4(), name="w", created_at=now), role)


def test_other_workspaces_do_not_exist_for_an_owner():
    with pytest.raises(UnknownWorkspace):
        caller(Role.owner).must_own(uuid4())


@pytest.mark.parametrize("role", [Role.viewer, Role.editor])
def test_lesser_roles_see_but_do_not_manage(role):
    one = caller(role)
    one.must_see(one.workspace.id)
    with pytest.raises(NeedsOwner):
        one.must_own(one.workspace.id)


def test_an_administrator_manages_every_workspace():
    caller(Role.owner, is_admin=True).must_own(uuid4())


@pytest.mark.parametrize("role", [Role.viewer, Role.editor])
def test_a_weaker_key_of_an_administrator_is_no_administrator(role):
    one = caller(role, is_admin=True)
    with pytest.raises(NeedsAdmin):
        one.must_be_admin()
    with pytest.raises(UnknownWorkspace):
        one.must_see(uuid4())


def test_an_owner_cannot_act_in_an_administrators_name():
    with pytest.raises(ProtectedAdmin):
        caller(Role.owner).may_act_on(user_is_admin=True)
    caller(Role.owner).may_act_on(user_is_admin=False)
    caller(Role.owner, is_admin=True).may_act_on(user_is_admin=True)
