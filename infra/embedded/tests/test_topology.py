"""Ports and settings of the embedded stack."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import socket
import stat
from pathlib import Path
from typing import cast

import pytest

from embedded.accounts import server_account
from embedded.allocation import allocate
from embedded.data_folder import DataFolder
from embedded.engines import Engines
from embedded.errors import EmbeddedError, PortInUse
from embedded.redis_acl import ADMINISTRATOR, RULES, USERS, rendered
from embedded.removal import remove
from embedded.topology import OBSERVED, PROCESSES, SERVICES, Site, user_settings


def test_a_public_port_in_use_is_reported_with_its_setting() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=rf"port {port} is in use .* GATEWAY_PORT"):
            allocate({"GATEWAY_PORT": str(port)}, "127.0.0.1", SERVICES)


def bound_below(one: socket.socket, highest: int) -> int:
    """Binds the socket to a free port that is valid as the first internal port; returns the port."""
    for port in range(12_000, highest):
        with contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise AssertionError("all ports are taken")


def test_an_internal_port_in_use_is_replaced_unless_it_was_configured(unused_port: int) -> None:
    with socket.socket() as other:
        taken = bound_below(other, 50_000)
        other.listen()
        settings = {"GATEWAY_PORT": str(unused_port), "INTERNAL_PORTS_FROM": str(taken)}
        with pytest.raises(PortInUse, match="INTERNAL_PORTS_FROM"):
            allocate(settings, "127.0.0.1", SERVICES)
    ports = allocate({"GATEWAY_PORT": settings["GATEWAY_PORT"]}, "127.0.0.1", SERVICES, OBSERVED)
    chosen = [*ports.services.values(), *ports.private.values()]
    assert len(set(chosen)) == len(SERVICES) + len(OBSERVED)


def test_prometheus_scrapes_each_process_on_its_private_port(tmp_path: Path) -> None:
    ports = {name: 1000 + number for number, name in enumerate(SERVICES)}
    private = {name: 2000 + number for number, name in enumerate(OBSERVED)}
    site = Site(tmp_path, {}, cast(Engines, None), DataFolder(tmp_path).credentials, "0.0.0.0", ports, private)
    site.write_targets()
    found = json.loads(site.targets_file.read_text())
    targets = {one["labels"]["service"]: one["targets"] for one in found}
    assert targets.keys() == {process.name for process in PROCESSES}
    assert targets["gateway"] == [f"127.0.0.1:{private['gateway']}"]
    assert targets["ingestion-worker"] == [f"127.0.0.1:{private['ingestion-worker']}"]
    assert targets["memory"] == [f"127.0.0.1:{ports['memory']}"]


@pytest.mark.parametrize("text", ["http", "0", "70000", "-1"])
def test_an_invalid_port_is_a_one_line_error(text: str) -> None:
    with pytest.raises(EmbeddedError, match="set it to a number from 1 to 65535"):
        allocate({"GATEWAY_PORT": text}, "127.0.0.1", SERVICES)


def test_only_shared_variables_of_dotenv_are_read_and_the_environment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("# note\nCHAT_MODEL='a b'\nexport CHAT_BASE_URL=http://x # local\nADMIN_API_KEY=compose\n")
    monkeypatch.delenv("ADMIN_API_KEY", raising=False)
    monkeypatch.delenv("CHAT_BASE_URL", raising=False)
    monkeypatch.setenv("CHAT_MODEL", "mine")
    settings = user_settings(dotenv)
    assert (settings["CHAT_MODEL"], settings["CHAT_BASE_URL"]) == ("mine", "http://x")
    assert "ADMIN_API_KEY" not in settings


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"# a note\nCHAT_MODEL=m\nCHAT_API_KEY='secret\nLOG_LEVEL=INFO\n", ", line 3, is not NAME=value"),
        (b"CHAT_MODEL=M\xfcller\n", " cannot be read: it is not UTF-8"),
    ],
)
def test_a_broken_dotenv_is_a_one_line_error(tmp_path: Path, content: bytes, why: str) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_bytes(content)
    with pytest.raises(EmbeddedError) as failed:
        user_settings(dotenv)
    assert f"{dotenv}{why}" in str(failed.value)
    assert "secret" not in str(failed.value)


def test_broken_secrets_are_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text('{"postgres": "a",}')
    with pytest.raises(EmbeddedError, match=r"secrets.json is not valid JSON .*: correct it by hand"):
        _ = DataFolder(tmp_path).credentials


def test_the_limits_and_budgets_that_the_example_of_dotenv_offers_are_read(tmp_path: Path) -> None:
    offered = re.findall(r"(?m)^#([A-Z_]+)=", (Path(__file__).parents[3] / ".env.example").read_text("utf-8"))
    limits = [name for name in offered if name.startswith(("BUDGET_", "WORKSPACE_", "RATE_", "CHUNK_", "PROVIDER_"))]
    assert len(limits) >= 10
    dotenv = tmp_path / ".env"
    dotenv.write_text("".join(f"{name}=17\n" for name in limits))
    settings = user_settings(dotenv)
    assert {name: settings.get(name) for name in limits} == dict.fromkeys(limits, "17")


def test_each_process_that_uses_redis_has_its_own_user_and_the_default_user_is_off() -> None:
    assert set(RULES) == {process.name for process in PROCESSES if process.redis}
    text = rendered(lambda user: f"password of {user}")
    lines = {line.split()[1]: line for line in text.splitlines()}
    assert set(lines) == {"default", *USERS}
    assert "password" not in text
    assert lines["default"].startswith("user default off ")
    assert [user for user, line in lines.items() if "+@all" in line] == [ADMINISTRATOR]
    assert not [line for line in lines.values() if "nopass" in line or "allkeys" in line]


def test_the_data_folder_is_closed_to_other_users(tmp_path: Path) -> None:
    """Regression: the default folder was 0755, so others could list the logs and the engines' folders."""
    folder = DataFolder(tmp_path / ".data")
    folder.path.mkdir(mode=0o755)
    folder.create()
    status = folder.path.stat()
    assert stat.S_IMODE(status.st_mode) == (0o710 if os.geteuid() == 0 else 0o700)
    if os.geteuid() == 0:  # the database's account may traverse it, and no user of the system has that id
        assert status.st_gid == server_account(folder.path).gid
        with pytest.raises(KeyError):
            pwd.getpwuid(status.st_gid)


def test_a_folder_created_by_the_user_keeps_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o755)
    DataFolder(place).create()
    assert stat.S_IMODE(place.stat().st_mode) == 0o755


def test_reset_deletes_only_files_of_attractor(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    (folder.path / "thesis.txt").write_text("mine")
    with pytest.raises(EmbeddedError, match="nothing was deleted"):
        remove(folder)
    folder.credentials.named("postgres")
    remove(folder)
    assert [place.name for place in folder.path.iterdir()] == ["thesis.txt"]
