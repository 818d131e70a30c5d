"""Creates what a new deployment needs before anyone can use it: an administrator, a workspace, a key."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from uuid import uuid4

from contracts.events import WorkspaceAdministered
from contracts.gateway import ApiKeyCreate, Role
from contracts.random_secrets import new_secret
from gateway.accounts import key_format
from gateway.accounts.administrators import Administrators
from gateway.accounts.keys import Keys, KeysOfAllWorkspaces
from gateway.accounts.members import Members
from gateway.accounts.users import Users
from gateway.accounts.workspaces import AdminHome, Workspaces
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database

log = logging.getLogger(__name__)
LOCK = 7_305_118_224


class NoAdministrator(Exception):
    """No administrator has a valid key or can sign in, and the settings provide no key."""

    def __init__(self) -> None:
        super().__init__("no administrator can get in: start with ADMIN_API_KEY or ADMIN_KEY_FILE")


async def ensure_admin(
    database: Database, administrators: Administrators, chosen_key: str | None, key_file: Path | None
) -> None:
    """Creates whatever is missing. Safe to repeat and to race: replicas take turns, and later ones find it done.

    The key is the one that the operator chose; otherwise one is generated and written to `key_file`, readable only by
    its owner. A different chosen key is added, so that an operator who has lost the key regains access. Raises
    NoAdministrator if no administrator has access and neither is given.
    """
    async with database.system() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        home = await Workspaces(connection).find_admin() or await _create_home(connection)
        if chosen_key is not None:
            await _add_chosen(connection, home, chosen_key)
        elif await administrators.can_get_in(connection):
            log.info("an administrator can get in")
        elif key_file is None:
            raise NoAdministrator
        else:
            key = key_format.ApiKeyText(uuid4(), new_secret())
            await _insert(connection, home, key)
            # before the commit: a key that nobody can read would be useless
            write_secret(key_file, key_format.render(key.id, key.secret))
            log.info("a new administrator's key was written", extra={"file": str(key_file)})


async def announce_home(database: Database, outbox: Outbox) -> None:
    """Announces the administrator's workspace, the only one that may use folders and stores that name no workspace."""
    async with database.system() as connection:
        home = await Workspaces(connection).find_admin()
        if home is not None:
            await outbox.write(connection, home.workspace_id, WorkspaceAdministered(), str(home.workspace_id))


async def _create_home(connection: Connection) -> AdminHome:
    admin = await Users(connection).insert(uuid4(), "admin", is_admin=True)
    workspace = await Workspaces(connection).insert(uuid4(), "default")
    assert admin is not None, "a new random id is free"
    assert workspace is not None, "a new random id is free"
    await Members(connection, workspace.id).put(admin.id, Role.owner)
    log.info("created the first user and the default workspace")
    return AdminHome(workspace.id, admin.id)


async def _add_chosen(connection: Connection, home: AdminHome, text: str) -> None:
    key = key_format.parse(text)
    assert key is not None, "the settings checked its form"
    row = await KeysOfAllWorkspaces(connection).find(key.id)
    if row is None and not await _insert(connection, home, key):
        log.warning("ADMIN_API_KEY has been revoked and stays revoked: generate another")


async def _insert(connection: Connection, home: AdminHome, key: key_format.ApiKeyText) -> bool:
    body = ApiKeyCreate(name="admin", role=Role.owner)
    return await Keys(connection, home.workspace_id).insert(key, home.user_id, body) is not None


def write_secret(file: Path, text: str) -> None:
    """Writes the file atomically, readable only by its owner."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{text}\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
