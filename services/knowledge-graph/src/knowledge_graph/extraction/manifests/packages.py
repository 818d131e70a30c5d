"""Dependencies of packages: pyproject.toml, Cargo.toml and package.json."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from knowledge_graph.extraction.manifests.statement import Manifest, ManifestRefused, NamedThing

NOT_NEEDED_TO_RUN = frozenset({"devDependencies", "dev-dependencies", "build-dependencies"})


def pyproject(text: str) -> Manifest:
    """Reads a pyproject.toml: the project's dependencies, including Poetry's. Raises ManifestRefused."""
    read = _toml(text)
    project, poetry = _table(read.get("project")), _table(_table(read.get("tool")).get("poetry"))
    manifest = Manifest()
    package = _package(manifest, text, project.get("name") or poetry.get("name"))
    if package is not None:
        for one in _strings(project.get("dependencies")):
            try:
                _depends(manifest, text, package, Requirement(one).name, "dependencies")
            except InvalidRequirement:
                continue  # not a valid requirement, so it names no package
        for name in _table(poetry.get("dependencies")):
            if name != "python":
                _depends(manifest, text, package, name, "dependencies")
    return manifest


def cargo(text: str) -> Manifest:
    """Reads a Cargo.toml. Raises ManifestRefused."""
    read = _toml(text)
    manifest = Manifest()
    package = _package(manifest, text, _table(read.get("package")).get("name"))
    if package is not None:
        _sections(manifest, text, package, read, ("dependencies", "dev-dependencies", "build-dependencies"))
    return manifest


def package_json(text: str) -> Manifest:
    """Reads a package.json. Raises ManifestRefused."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestRefused(f"it is not readable JSON: {error}") from error
    fields = _table(read)
    manifest = Manifest()
    package = _package(manifest, text, fields.get("name"))
    if package is not None:
        _sections(manifest, text, package, fields, ("dependencies", "peerDependencies", "devDependencies"))
    return manifest


def _sections(
    manifest: Manifest, text: str, package: NamedThing, fields: Mapping[str, Any], sections: Iterable[str]
) -> None:
    for section in sections:
        for name in _table(fields.get(section)):
            _depends(manifest, text, package, name, section)


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ManifestRefused(f"it is not readable TOML: {error}") from error


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _package(manifest: Manifest, text: str, name: object) -> NamedThing | None:
    if not isinstance(name, str) or not name:
        return None
    place = text.find(f'"{name}"')
    return manifest.thing(place + 1, name, "") if place >= 0 else None


def _depends(manifest: Manifest, text: str, package: NamedThing, name: str, section: str) -> None:
    """States the dependency at its name in the section; states nothing if the section spells the name differently."""
    begin = max(0, text.find(section))
    places = [place + 1 for quote in "\"'" if (place := text.find(f"{quote}{name}", begin)) >= 0]
    if not places:
        place = text.find(f"\n{name}", begin)
        places = [place + 1] if place >= 0 else []
    if places:
        relation_type = "USES" if section in NOT_NEEDED_TO_RUN else "DEPENDS_ON"
        manifest.state(package, relation_type, manifest.thing(min(places), name, "LIBRARY"), section)
