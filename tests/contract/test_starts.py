"""Starts: what runs at every start loads only what it needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from embedded.topology import PROCESSES

SERVICES = sorted({process.module for process in PROCESSES})
ONLY_TO_SERVE = ("fastapi", "langgraph", "mcp", "neo4j", "numpy", "redis", "spacy", "uvicorn")
LOADED = """
import contextlib, runpy, sys
package = sys.argv[1]
sys.argv = [package, "migrate", "--help"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(None):
    runpy.run_module(package, run_name="__main__", alter_sys=True)
print(*sys.modules)
"""


@pytest.mark.parametrize("package", SERVICES)
def test_a_migration_loads_nothing_that_only_the_running_service_needs(package: str) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED, package], capture_output=True, text=True, check=True, timeout=120
    )
    assert set(loaded.stdout.split()) & set(ONLY_TO_SERVE) == set()
    assert "service_kit.migrate" in loaded.stdout


@pytest.mark.parametrize(("command", "why"), [("migrate", "Connection refused"), ("replay", "Redis cannot be used")])
def test_a_store_that_does_not_answer_is_a_one_line_error(command: str, why: str, unused_port: int) -> None:
    place = f"somebody:secret@127.0.0.1:{unused_port}"
    urls = dict.fromkeys(("DATABASE_URL", "ADMIN_DATABASE_URL"), f"postgresql://{place}/attractor")
    environment = os.environ | urls | {"REDIS_URL": f"redis://{place}/0"}
    ran = subprocess.run(
        [sys.executable, "-m", "memory", command], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1), ran.stderr
    assert ran.stderr.startswith("memory: ")
    assert why in ran.stderr
    assert "secret" not in ran.stderr


@pytest.mark.parametrize(
    ("module", "needless"),
    [
        ("gateway.app", {"mcp", "mcp_types", "attractor_client"}),  # only agents need them
        ("embedded.__main__", {"fastapi", "minio", "opentelemetry", "pydantic", "redis"}),  # all else waits for it
    ],
)
def test_what_starts_does_not_load_what_it_needs_later_if_at_all(module: str, needless: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert set(loaded.stdout.split()) & needless == set()
