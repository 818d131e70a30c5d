"""Guarantees of compose.yaml: no privileges, no exposed secrets, no internet access except where it is needed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from api_calls import REPOSITORY

from embedded.engines.valkey import MOST_MEMORY
from gateway.settings import Settings as Gateway

COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
TLS: dict[str, Any] = yaml.safe_load((REPOSITORY / "compose.tls.yaml").read_text(encoding="utf-8"))
EXAMPLE = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
# The entrypoint needs these to hand the data to its user and become that user. Other containers start as theirs.
CAPABILITIES = {"seaweedfs": ["CHOWN", "SETGID", "SETUID"]}
WRITES_ITS_OWN_IMAGE = {"neo4j"}


@pytest.fixture(scope="module")
def new_env() -> ModuleType:
    spec = importlib.util.spec_from_file_location("new_env", REPOSITORY / "infra" / "docker" / "new_env.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(REPOSITORY / "infra" / "docker")
        spec.loader.exec_module(module)
    return module


def on(network: str) -> set[str]:
    return {name for name, one in SERVICES.items() if network in one.get("networks", [])}


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_no_privileges(name: str) -> None:
    """Regression: PostgreSQL and Neo4j had all of Docker's default capabilities, and could gain more."""
    one = SERVICES[name]
    assert one["cap_drop"] == ["ALL"]
    assert one.get("cap_add", []) == CAPABILITIES.get(name, [])
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert one["read_only"] is (name not in WRITES_ITS_OWN_IMAGE)
    assert not one.get("privileged")
    assert one["mem_limit"]
    assert 0 < one["pids_limit"] <= 1024
    assert one["cpu_quota"]
    assert "cpus" not in one, "on a machine with fewer, Docker refuses to start the container"


@pytest.mark.skipif(shutil.which("docker") is None, reason="docker compose is not installed")
def test_every_container_of_every_profile_gets_its_limits() -> None:
    """Reads what Compose itself makes of the file, with nothing set but what `make env` writes."""
    command = ["docker", "compose", "--profile", "*", "config", "--format", "json"]
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TOKEN_PUBLIC_KEYS": "x"}
    read = subprocess.run(
        command, cwd=REPOSITORY, env=variables | {"COMPOSE_DISABLE_ENV_FILE": "1"}, capture_output=True, text=True
    )
    assert read.returncode == 0, read.stderr
    containers = json.loads(read.stdout)["services"]
    assert containers.keys() == SERVICES.keys()
    for name, one in containers.items():
        assert int(one["mem_limit"]) <= 3 * 2**30, name
        assert int(one["cpu_quota"]) in {200_000, 400_000}, name
        assert int(one["pids_limit"]) in {512, 1024}, name
        assert one["security_opt"] == ["no-new-privileges:true"], name  # and so Docker's seccomp profile applies


def test_redis_reaches_its_memory_limit_before_its_container_does() -> None:
    """Regression: without its own limit, Redis was killed, read its file, and was killed again."""
    redis = SERVICES["redis"]
    arguments = redis["command"]
    most = arguments[arguments.index("--maxmemory") + 1]
    assert most == MOST_MEMORY
    assert int(most.removesuffix("mb")) <= 0.7 * int(redis["mem_limit"].removesuffix("m"))  # forks and buffers
    assert arguments[arguments.index("--maxmemory-policy") + 1] == "noeviction"


@pytest.mark.parametrize("name", SERVICES)
def test_uploads_are_on_volumes_and_every_tmpfs_is_bounded(name: str) -> None:
    """Regression: an unlimited tmpfs took uploads until the container was killed; they are on volumes now."""
    for place in SERVICES[name].get("tmpfs", []):
        assert re.search(r":size=\d+m$", place), place
    assert SERVICES["ingestion"]["environment"]["UPLOAD_FOLDER"] == "/spool"
    assert SERVICES["ingestion-worker"]["environment"]["WORK_FOLDER"] == "/spool"
    assert "uploads:/spool" in SERVICES["ingestion"]["volumes"]
    assert "work:/spool" in SERVICES["ingestion-worker"]["volumes"]


@pytest.mark.parametrize("name", SERVICES)
def test_no_secret_is_in_an_environment_variable_or_a_command_line(name: str, new_env: ModuleType) -> None:
    """Matters because `docker inspect` and process lists show both."""
    secret = {*re.findall(r"^([A-Z0-9_]+)=<generate>$", EXAMPLE, re.MULTILINE)} - {"TOKEN_PUBLIC_KEYS"}
    secret |= {one.upper() for one in new_env.OF_OTHERS}
    one = SERVICES[name]
    shown = repr([one.get(key) for key in ("environment", "command", "entrypoint", "healthcheck", "labels")])
    assert not set(re.findall(r"\$\{([A-Z0-9_]+)", shown)) & secret
    assert not set(one.get("environment", {})) & secret


def test_only_named_containers_have_internet_access() -> None:
    """Regression: every container could reach the internet."""
    networks = {name: bool((one or {}).get("internal")) for name, one in COMPOSE["networks"].items()}
    assert networks == {
        "edge": False,
        "egress": False,
        "services": True,
        "stores": True,
        "objects": True,
        "watching": True,
    }
    assert on("edge") == {"gateway", "grafana", "jaeger"}
    assert on("watching") == {"prometheus", "alertmanager", "grafana", "postgres-exporter", "redis-exporter"}
    assert on("egress") == {
        *("ingestion-worker", "orchestrator", "retrieval", "memory", "knowledge-graph"),
        "alertmanager",
    }
    assert {name for name, one in SERVICES.items() if one.get("ports")} == {"gateway", "grafana", "jaeger"}
    for name in ("grafana", "jaeger"):
        assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"]), "they ask nobody who they are"
    for name, one in SERVICES.items():
        assert one.get("networks") or one.get("network_mode") == "none", name


def test_only_holders_of_its_keys_can_reach_the_object_store() -> None:
    """Regression: its filer, master and volume ports were open to every container on the stores' network."""
    assert on("objects") == {
        "seaweedfs",
        "backup",
        "restore",
        "orchestrator",
        "ingestion",
        "ingestion-worker",
        "retrieval",
        "knowledge-graph",
    }
    assert SERVICES["seaweedfs"]["networks"] == ["objects"]


def test_backups_start_only_when_asked_for() -> None:
    """Checks that a stack without them has neither their container nor their credentials."""
    assert {name: one["profiles"] for name, one in SERVICES.items() if "backup" in one["image"]} == {
        "backup-migrate": ["backup"],
        "backup": ["backup"],
        "restore": ["restore"],
    }


def test_each_part_of_what_observes_starts_alone_or_with_the_others() -> None:
    profiles = {name: set(one["profiles"]) for name, one in SERVICES.items() if "profiles" in one}
    parts = {name: one - {"observability"} for name, one in profiles.items() if "observability" in one}
    assert parts == {
        "prometheus": {"metrics", "dashboards"},
        "alertmanager": {"metrics"},
        "monitor-migrate": {"metrics"},
        "postgres-exporter": {"metrics"},
        "redis-exporter": {"metrics"},
        "grafana": {"dashboards"},
        "jaeger": {"traces"},
    }
    for name, part in profiles.items():
        for needed in set(SERVICES[name].get("depends_on", {})) & profiles.keys():
            assert part <= profiles[needed], f"Compose refuses {name} without {needed}"


def test_what_observes_the_stores_has_logins_that_read_no_data(new_env: ModuleType) -> None:
    """Checks that an exporter holds no credential of a service or an administrator."""
    assert SERVICES["postgres-exporter"]["secrets"] == ["monitor_database_password"]
    assert SERVICES["redis-exporter"]["secrets"] == ["redis_exporter.json"]
    files = new_env.files(new_env.values(re.sub(r"^([A-Z_]+)=<generate>$", r"\1=of \1", EXAMPLE, flags=re.MULTILINE)))
    set_up = SERVICES["redis-exporter"]["environment"]
    address = set_up["REDIS_ADDR"].replace("://", f"://{set_up['REDIS_USER']}@")
    assert json.loads(files["redis_exporter.json"]) == {address: "of REDIS_MONITOR_PASSWORD"}
    assert files["monitor_database_password"] == "of MONITOR_DATABASE_PASSWORD"
    user = SERVICES["postgres-exporter"]["environment"]["DATA_SOURCE_USER"]
    assert files["monitor_database_url"].startswith(f"postgresql://{user}:")


def test_what_takes_backups_can_neither_administer_a_store_nor_reach_the_services() -> None:
    """Checks that only the restore, which runs once, has the passwords of administrators."""
    backup, restore = SERVICES["backup"], SERVICES["restore"]
    sources = [one if isinstance(one, str) else one["source"] for one in backup["secrets"]]
    assert sources == ["backup_database_url", "s3_access_key", "s3_secret_key"]
    assert set(backup["networks"]) == set(restore["networks"]) == {"stores", "objects"}
    holders = {name for name, one in SERVICES.items() if "administrator_redis_url" in repr(one.get("secrets"))}
    assert holders == {"restore"}
    assert restore["restart"] == "no"
    assert "postgres:" not in repr(backup["volumes"])


def test_only_the_role_of_backups_may_replicate() -> None:
    """Regression: PostgreSQL's image lets nobody replicate from another container, and all of its own users in."""
    lines = (REPOSITORY / "infra/postgres/pg_hba.conf").read_text(encoding="utf-8").splitlines()
    rules = [line.split() for line in lines if line and not line.startswith("#")]
    assert [rule for rule in rules if rule[1] == "replication"] == [
        ["host", "replication", "attractor_backup", "all", "scram-sha-256"]
    ]
    assert {rule[-1] for rule in rules if rule[0] == "host"} == {"scram-sha-256"}
    assert "hba_file=/etc/attractor/pg_hba.conf" in SERVICES["postgres"]["command"]
    assert "./infra/postgres:/etc/attractor:ro" in SERVICES["postgres"]["volumes"]


def test_files_are_converted_without_network_and_secrets() -> None:
    """Regression: files were read in the worker's container, which has passwords and internet access."""
    converter = SERVICES["converter"]
    assert converter["network_mode"] == "none"
    assert not {"networks", "secrets", "ports", "cap_add"} & set(converter)
    assert set(converter["environment"]) == {"CONVERTER_SOCKET", "LOG_LEVEL", "WORK_FOLDER"}
    places = [volume.rsplit(":", 1) if volume.endswith(":ro") else [volume, ""] for volume in converter["volumes"]]
    writable = {place for place, mode in places if mode != "ro"}
    assert writable == {"converter:/run/converter", "conversions:/spool"}
    for name in ("ingestion", "ingestion-worker"):
        assert SERVICES[name]["environment"]["CONVERTER_SOCKET"] == "/run/converter/socket"
        assert "converter:/run/converter:ro" in SERVICES[name]["volumes"]
    with_volume = {name for name, one in SERVICES.items() if "conversions:/spool" in one.get("volumes", [])}
    assert with_volume == {"converter"}


def test_https_at_the_gateway_changes_no_other_service() -> None:
    """Checks that `-f compose.tls.yaml` adds only the certificate, the key and their settings."""
    assert set(TLS) == {"services", "secrets"}
    assert set(TLS["services"]) == {"gateway"}
    gateway = TLS["services"]["gateway"]
    assert set(gateway) == {"environment", "secrets"}
    assert set(gateway["secrets"]) == set(TLS["secrets"])
    assert not set(TLS["secrets"]) & set(COMPOSE["secrets"])
    known = {name.upper() for name in Gateway.model_fields}
    for variable, place in gateway["environment"].items():
        assert variable in known
        assert place.removeprefix("/run/secrets/") in gateway["secrets"]
        file = TLS["secrets"][place.removeprefix("/run/secrets/")]["file"]
        assert file == "${" + variable + ":?set it in .env}", "an unset path ends `docker compose up`, and says why"
    assert known & set(gateway["environment"]) == {"TLS_CERTIFICATE_FILE", "TLS_KEY_FILE"}


def test_every_secret_is_written_and_referenced(new_env: ModuleType) -> None:
    env = new_env.values(EXAMPLE.replace("<generate>", "x"))
    declared = {name: one["file"] for name, one in COMPOSE["secrets"].items()}
    assert declared == {name: f".secrets/{name}" for name in new_env.files(env)}
    used = {
        one if isinstance(one, str) else one["source"] for each in SERVICES.values() for one in each.get("secrets", [])
    }
    assert used == set(declared)


def test_missing_secrets_are_added_to_an_older_env_file(
    new_env: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Checks that an upgrade takes one command and changes no existing secret."""
    (tmp_path / ".env.example").write_text(EXAMPLE, encoding="utf-8")
    assert new_env.main(tmp_path) == 0
    whole = (tmp_path / ".env").read_text(encoding="utf-8")
    older = re.sub(r"^(S3_SECRET_KEY|NEO4J_PASSWORD)=.*\n", "", whole, flags=re.MULTILINE) + "CHAT_API_KEY='of mine'\n"
    (tmp_path / ".env").write_text(older, encoding="utf-8")
    capsys.readouterr()
    assert new_env.main(tmp_path) == 0
    assert "NEO4J_PASSWORD, S3_SECRET_KEY" in capsys.readouterr().out
    completed = (tmp_path / ".env").read_text(encoding="utf-8")
    assert completed.startswith(older)
    known, before = new_env.values(completed), new_env.values(whole)
    assert {name for name in before if before[name] != known[name]} == {"S3_SECRET_KEY", "NEO4J_PASSWORD"}
    assert (tmp_path / ".secrets" / "chat_api_key").read_text(encoding="utf-8") == "of mine"
    assert new_env.main(tmp_path) == 0
    assert (tmp_path / ".env").read_text(encoding="utf-8") == completed


def test_secret_files_are_unreadable_for_other_users_of_the_machine(new_env: ModuleType, tmp_path: Path) -> None:
    (tmp_path / ".env.example").write_text(EXAMPLE, encoding="utf-8")
    new_env.main(tmp_path)
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / ".secrets").stat().st_mode) == 0o700
