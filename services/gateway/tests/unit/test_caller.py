from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from contracts.gateway import Role, User, Workspace
from gateway.accounts.caller import Authenticated
from gateway.errors import LongerThanItsKey, NeedsAdmin, NeedsOwner, OwnNameOnly, ProtectedAdmin, UnknownWorkspace


def caller(role: Role, is_admin: bool = False) -> Authenticated:
    now = datetime.now(UTC)
    user = User(id=uuid4(), name="u", is_admin=is_admin, created_at=now)
    return Authenticated(uuid4(), user, Workspace(id=uuid4(), name="w", created_at=now), role)


def test_an_owner_sees_other_workspaces_as_nonexistent():
    with pytest.raises(UnknownWorkspace):
        caller(Role.owner).must_own(uuid4())


@pytest.mark.parametrize("role", [Role.viewer, Role.editor])
def test_lower_roles_see_but_do_not_manage(role):
    one = caller(role)
    one.must_see(one.workspace.id)
    with pytest.raises(NeedsOwner):
        one.must_own(one.workspace.id)


def test_an_administrator_manages_every_workspace():
    caller(Role.owner, is_admin=True).must_own(uuid4())


@pytest.mark.parametrize("role", [Role.viewer, Role.editor])
def test_a_weaker_key_of_an_administrator_has_no_administrator_rights(role):
    one = caller(role, is_admin=True)
    with pytest.raises(NeedsAdmin):
        one.must_be_admin()
    with pytest.raises(UnknownWorkspace):
        one.must_see(uuid4())


def test_an_owner_cannot_act_on_an_administrator():
    with pytest.raises(ProtectedAdmin):
        caller(Role.owner).may_act_on(user_is_admin=True)
    caller(Role.owner).may_act_on(user_is_admin=False)
    caller(Role.owner, is_admin=True).may_act_on(user_is_admin=True)


@pytest.mark.parametrize("is_admin", [True, False])
def test_a_key_cannot_be_created_for_another_user(is_admin):
    one = caller(Role.owner, is_admin)
    one.must_be(one.user.id)
    with pytest.raises(OwnNameOnly):
        one.must_be(uuid4())


def test_the_holder_of_an_expiring_key_cannot_make_it_permanent():
    end = datetime.now(UTC) + timedelta(days=1)
    one = replace(caller(Role.owner), expires_at=end)
    one.may_outlive(end)
    for later in (None, end + timedelta(seconds=1)):
        with pytest.raises(LongerThanItsKey):
            one.may_outlive(later)
    caller(Role.owner).may_outlive(None)
