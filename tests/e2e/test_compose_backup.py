"""Compose's backups, on a project of their own with the stores and what backs them up, without the services."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator

import pytest
from api_calls import PATIENCE, REPOSITORY

pytestmark = pytest.mark.skipif(
    not os.environ.get("ATTRACTOR_COMPOSE"), reason="needs the images of the Compose stack: ATTRACTOR_COMPOSE=1"
)
KEY, CONTENT = "workspace/original", "what was uploaded"
OBJECTS = f"""
from backup.container.settings import ContainerSettings
from service_kit.objects import ObjectStore
store, key = ObjectStore(ContainerSettings()), {KEY!r}
"""
RECEIVED = "SELECT flush_lsn >= pg_current_wal_flush_lsn() FROM pg_stat_replication WHERE usename = 'attractor_backup'"


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["docker", "compose", "--project-name", "attractor-drill", "--profile", "backup", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)


def compose(*arguments: str) -> str:
    done = docker(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def psql(statement: str) -> str:
    command = ("psql", "--username=postgres", "--tuples-only", "--no-align", f"--command={statement}", "attractor")
    return compose("exec", "--no-TTY", "postgres", *command).strip()


def backup(*arguments: str) -> str:
    return compose("exec", "--no-TTY", "backup", "python", *arguments)


def wait_until_received() -> None:
    """Waits until the copy of the log has all that is committed; its receiver announces nothing."""
    deadline = time.monotonic() + PATIENCE
    while psql(RECEIVED) != "t":
        assert time.monotonic() < deadline, compose("logs", "backup")
        time.sleep(0.2)


def take_first_backup() -> None:
    """Waits for the backup that the container takes by itself."""
    command = ["docker", "compose", "--project-name", "attractor-drill", "logs", "--follow", "backup"]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as log:
        assert log.stdout is not None
        told = []
        for line in log.stdout:
            told.append(line)
            if "(full)" in line or "failed" in line:
                break
        log.kill()
    assert "(full)" in told[-1], "".join(told)


@pytest.fixture
def installation() -> Iterator[None]:
    docker("down", "--volumes", "--timeout=2")
    compose("up", "--detach", "backup")
    yield
    docker("--profile", "restore", "down", "--volumes", "--timeout=2")


@pytest.mark.usefixtures("installation")
@pytest.mark.timeout(600)
def test_a_moment_is_restored_into_empty_volumes_after_everything_was_killed() -> None:
    take_first_backup()
    psql("CREATE TABLE gateway.note AS SELECT 'as it was' AS content")
    backup("-c", OBJECTS + f"store.put(key, {CONTENT.encode()!r})")
    assert "(incremental)" in backup("-m", "backup", "now")
    moment = psql("SELECT clock_timestamp()")
    psql("UPDATE gateway.note SET content = 'overwritten'")
    backup("-c", OBJECTS + "store.delete([key])")
    wait_until_received()
    refused = docker("run", "--rm", "--no-deps", "--no-TTY", "restore", "--to", moment)
    assert refused.returncode == 1
    assert "which a restore does not overwrite: remove the volumes" in refused.stderr

    compose("kill", "--signal=SIGKILL")
    compose("rm", "--force")
    subprocess.run(
        ["docker", "volume", "rm", "attractor-drill_postgres", "attractor-drill_seaweedfs"],
        check=True,
        capture_output=True,
    )
    compose("run", "--rm", "--no-TTY", "restore", "--to", moment)

    compose("up", "--detach", "backup")
    assert psql("SELECT content FROM gateway.note") == "as it was"
    take_first_backup()
    assert backup("-c", OBJECTS + "print(store.get(key).decode())").strip() == CONTENT
    backup("-m", "backup", "verify")
    age = "SELECT count(*) FROM gateway.backup WHERE finished_at > now() - interval '1 hour'"
    assert int(psql(age)) >= 2, "what attractor_backup_age_seconds is read from"
