"""The first process of a container ends when it is asked to, whatever it is doing; the kernel does not see to that."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import yaml
from api_calls import PATIENCE, REPOSITORY
from contract.test_schema_versions import serving
from held_port import held_port
from lost_servers import losable

from embedded.topology import PROCESSES, Process
from service_kit.first_process import TERMINATED

BUSY = "import threading\nprint('importing', flush=True)\nthreading.Event().wait()\n"


@contextmanager
def first(arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Starts a module by the entry point of the images. As to a first process, SIGTERM does nothing to it by itself."""
    command = ["sh", "-c", "trap '' TERM; exec \"$@\"", "sh", *_entry_point(), *arguments]
    with subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _entry_point() -> list[str]:
    """Returns the images' command before the module, with this Python."""
    found = []
    for name in ("python", "backup"):
        text = (REPOSITORY / "infra" / "docker" / f"{name}.Dockerfile").read_text(encoding="utf-8")
        [line] = re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)
        found.append(yaml.safe_load(line))
    assert found[1] == [*found[0], "backup"]
    assert found[0][0] == "python"
    return [sys.executable, *found[0][1:]]


def test_a_process_that_still_imports_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY, encoding="utf-8")
    with first(["busy"], os.environ, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.terminate()
        assert process.wait(PATIENCE) == TERMINATED


@pytest.mark.parametrize("one", PROCESSES, ids=lambda one: one.name)
def test_a_service_that_waits_for_its_database_ends_when_it_is_asked_to(one: Process, tmp_path: Path) -> None:
    with losable("postgresql://a:b@127.0.0.1:1/c") as database:
        database.hold()
        command = serving(one, database.url, tmp_path)
        with first(command.argv[2:], command.env, tmp_path) as process:
            database.wait_until_used(PATIENCE)
            process.terminate()
            assert process.wait(PATIENCE) == TERMINATED


def test_a_service_whose_start_does_not_end_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "tests"), "NEVER_READY": "1"}
    with held_port() as port, first(["small_service", str(port), "1"], environment, tmp_path) as process:
        assert process.stdout is not None
        assert "starting\n" in iter(process.stdout.readline, "")
        process.terminate()
        assert process.wait(PATIENCE) == TERMINATED


def test_a_service_that_has_answered_its_last_request_ends_without_an_error(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "tests")}
    with held_port() as port, first(["small_service", str(port), "1"], environment, tmp_path) as process:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                assert httpx2.get(f"http://127.0.0.1:{port}/", trust_env=False).is_success
                break
            except httpx2.TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.05)  # another process's port has no event
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_every_container_of_ours_has_this_entry_point() -> None:
    services = yaml.safe_load((REPOSITORY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    for name, one in services.items():
        if one["image"].startswith("attractor-") and "entrypoint" in one:
            assert one["entrypoint"][1:3] == _entry_point()[1:], name
