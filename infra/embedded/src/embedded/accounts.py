"""The account that PostgreSQL runs as when Attractor is started by root.

It is a user id that only this data folder uses and that has no entry in the system's user database: nothing is added to
the system, and no other daemon shares it, as daemons share `nobody`.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
from pathlib import Path

from embedded.engine_user import EngineUser
from embedded.errors import EmbeddedError

# Assigned to nobody by distributions or by systemd.
_FIRST, _LAST = 60_706, 61_183


def server_account(data: Path) -> EngineUser:
    """Returns the account of this data folder."""
    spread = int.from_bytes(hashlib.sha256(os.fsencode(data)).digest()[:4])
    count = _LAST - _FIRST + 1
    number = next(one for step in range(count) if not _known(one := _FIRST + (spread + step) % count))
    return EngineUser(number, number)


def maker_account(data: Path) -> EngineUser:
    """Returns the account that creates a cluster: `nobody`, because initdb looks up the name of its user in the system.

    Its group is the server's, which may traverse the data folder.

    Raises EmbeddedError if the system has no such user.
    """
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedError(
            "postgres cannot run as root and there is no user nobody: start Attractor as another user"
        ) from None
    return EngineUser(entry.pw_uid, server_account(data).gid)


def make_private(data: Path) -> None:
    """Closes a folder to all but its owner and, for root, the account of its database, which has to traverse it."""
    if os.geteuid() != 0:
        data.chmod(0o700)
        return
    os.chown(data, -1, server_account(data).gid)
    data.chmod(0o710)


def reachable(path: Path) -> bool:
    """Returns whether other users, or one of our accounts, can reach this path."""
    resolved = path.resolve()
    return all(_may_pass(place.stat()) for place in [resolved, *resolved.parents] if place.exists())


def _may_pass(status: os.stat_result) -> bool:
    ours = _FIRST <= status.st_gid <= _LAST
    return bool(status.st_mode & stat.S_IXOTH or (ours and status.st_mode & stat.S_IXGRP))


def _known(number: int) -> bool:
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True
