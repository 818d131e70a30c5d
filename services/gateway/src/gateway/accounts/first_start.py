"""What a new deployment needs before anyone can use it: an administrator, a workspace, a key."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from uuid import UUID, uuid4

from contracts.gateway import Role
from gateway import keys, store
from service_kit.postgres import Connection, Database

log = logging.getLogger(__name__)
LOCK = 7_305_118_224


async def ensure_admin(database: Database, chosen_key: str | None, key_file: Path | None) -> None:
    """Safe to repeat and to race: replicas take turns, and the later ones find everything there.

    The key is the one that the operator chose, else one is made and written to `key_file`, for its owner's eyes only.
    Giving another chosen key later adds it: so an operator who has lost the key gets in again.
    """
    async with database.system() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        workspace_id, user_id = await _home(connection)
        if chosen_key is not None:
            await _add_chosen(connection, workspace_id, user_id, chosen_key)
        elif await store.has_admin_key(connection):
            log.info("an administrator's key exists")
        elif key_file is not None:
            key = keys.ApiKeyText(uuid4(), keys.new_secret())
            await _insert(connection, workspace_id, user_id, key)
            write_secret(
                key_file, keys.render(key.id, key.secret)
            )  # before the commit: a key that nobody has is no use
            log.info("a new administrator's key was written", extra={"file": str(key_file)})


async def _home(connection: Connection) -> tuple[UUID, UUID]:
    """(workspace, user) of the administrator; made when there is none."""
    found = await (await connection.execute(store.SQL["find_admin"])).fetchone()
    if found:
        return found[0], found[1]
    admin = await store.insert_user(connection, uuid4(), "admin", is_admin=True)
    workspace = await store.insert_workspace(connection, uuid4(), "default")
    await store.put_member(connection, workspace.id, admin.id, Role.owner)
    log.info("the first user and the default workspace were made")
    return workspace.id, admin.id


async def _add_chosen(connection: Connection, workspace_id: UUID, user_id: UUID, text: str) -> None:
    key = keys.parse(text)
    assert key is not None, "the settings checked its form"
    row = await store.find_for_authentication(connection, key.id)
    if row is None and not await _insert(connection, workspace_id, user_id, key):
        log.warning("ADMIN_API_KEY was revoked, and stays so: choose another")


async def _insert(connection: Connection, workspace_id: UUID, user_id: UUID, key: keys.ApiKeyText) -> bool:
    made = await store.insert_key(connection, key.id, (workspace_id, user_id), "admin", Role.owner, key.secret_sha256)
    return made is not None


def write_secret(file: Path, text: str) -> None:
    """Whole or not at all, and readable by its owner alone."""
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
