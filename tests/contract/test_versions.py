"""One version: VERSION is the source, and `make version NEW=...` writes it into every package."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

from contract.generated import FOLDER, MERGED

ROOT = Path(__file__).parents[2]
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()


def test_every_package_has_the_version_of_the_repository() -> None:
    members = [*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml")]
    projects = [
        tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        for path in [*members, ROOT / "infra/embedded/pyproject.toml"]
    ]
    assert {project["name"]: project["version"] for project in projects} == {
        project["name"]: VERSION for project in projects
    }
    installed = {project["name"] for project in projects} - {"attractor-web"}  # which needs a build
    assert set(map(version, installed)) == {VERSION}, "run `make setup`"


def test_every_generated_document_has_the_current_version() -> None:
    for document in [*FOLDER.glob("*.json"), MERGED]:
        assert f'"version": "{VERSION}"' in document.read_text(encoding="utf-8"), document.name


def test_the_changelog_has_the_current_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## [Unreleased]\n" in changelog
    assert f"\n## [{VERSION}] - " in changelog
