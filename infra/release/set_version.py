#!/usr/bin/env python3
"""Prints the version, or sets a new one: in VERSION, every package, the chart and the changelog. Standard library only.

usage: set_version.py [NEW_VERSION]
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORM = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
LINE = re.compile(r'^version = ".*"$', re.MULTILINE)
CHART_LINES = re.compile(r'^version: .*\nappVersion: ".*"$', re.MULTILINE)
UNRELEASED = "## [Unreleased]\n"


def packages() -> list[Path]:
    """Returns the pyproject.toml of every member of the workspace."""
    return sorted([*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml"),
                   ROOT / "infra/embedded/pyproject.toml"])  # fmt: skip


def semantic(version: str) -> str:
    """Returns the version as charts write it: `1.2.3-rc1` for `1.2.3rc1`."""
    return re.sub(r"(a|b|rc)", r"-\1", version)


def set_version(version: str) -> None:
    (ROOT / "VERSION").write_text(version + "\n", encoding="utf-8")
    for path in packages():
        text = path.read_text(encoding="utf-8")
        path.write_text(LINE.sub(f'version = "{version}"', text, count=1), encoding="utf-8")
    chart = ROOT / "charts/attractor/Chart.yaml"
    lines = f'version: {semantic(version)}\nappVersion: "{version}"'
    chart.write_text(CHART_LINES.sub(lines, chart.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    changelog = ROOT / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    heading = f"{UNRELEASED}\n## [{version}] - {datetime.now(UTC):%Y-%m-%d}\n"
    changelog.write_text(text.replace(UNRELEASED, heading, 1), encoding="utf-8")


def main(arguments: list[str]) -> int:
    if not arguments:
        sys.stdout.write((ROOT / "VERSION").read_text(encoding="utf-8"))
    elif len(arguments) > 1 or not FORM.fullmatch(arguments[0]):
        sys.stderr.write(f"not a version: {' '.join(arguments)}; write it as 1.2.3 or 1.2.3rc1\n")
        return 2
    else:
        set_version(arguments[0])
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
