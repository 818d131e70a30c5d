#!/usr/bin/env python3
"""Lists Attractor's dependencies: a CycloneDX document for each image, and the licence of every package.

usage: dependencies.py licences            fails when a package has a licence that is not on the list below
       dependencies.py sbom [--images]     writes build/sbom/NAME.cdx.json for each lock; --images adds the Debian
                                           packages of the built images (needs Docker)

The packages are read from the locks, the licences from the installed development environment; for the web UI and its
tools, both from npm's lock.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from license_expression import AND, OR, ExpressionError, get_spdx_licensing
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[2]
SBOMS = ROOT / "build" / "sbom"
IMAGES = (
    "gateway",
    "orchestrator",
    "ingestion",
    "ingestion-worker",
    "retrieval",
    "knowledge-graph",
    "memory",
    "backup",
)
LOCKS = (*IMAGES, "embedded")
NPM_LOCK = ROOT / "services/web/package-lock.json"
PIN = re.compile(r"^([a-z0-9.-]+)==([^ ]+)")

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0",
    "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
}  # fmt: skip
# Packages whose licence is not on the list or not declared: the licence, and why it is accepted.
REVIEWED = {
    "psycopg": "LGPL-3.0-only",  # imported unmodified and replaceable, as the licence requires
    "psycopg-binary": "LGPL-3.0-only",
    "psycopg-pool": "LGPL-3.0-only",
    "docutils": "BSD-2-Clause",  # public domain except for some files; the only one under the GPL is for Emacs
    # Pandoc (GPL), unmodified: a separate program, called with arguments and pipes; nothing is linked
    "pypandoc-binary": "MIT AND GPL-2.0-or-later",
    "pypdfium2": "BSD-3-Clause",  # with PDFium itself; "dependency licenses" are those of PDFium, all permissive
}
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
}


@dataclass(frozen=True)
class Package:
    """A pinned package of a lock."""

    name: str
    version: str

    def licence(self) -> str | None:
        """Returns an SPDX expression; "" if none is declared, None if the package is not installed on this platform."""
        if self.name in REVIEWED:
            return REVIEWED[self.name]
        try:
            return _licence(metadata(self.name))
        except PackageNotFoundError:
            return None


def packages(lock: str) -> Iterator[Package]:
    """Yields the packages of requirements/LOCK.txt."""
    for line in (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8").splitlines():
        if pin := PIN.match(line):
            yield Package(pin[1], pin[2])


def licences() -> int:
    """Prints each package with its licence. Returns 1 if one is not allowed."""
    found = {package.name: package for lock in LOCKS for package in packages(lock)}
    refused = []
    for name, package in sorted(found.items()):
        licence = package.licence()
        sys.stdout.write(f"{name:<42} {'(not on this platform)' if licence is None else licence or 'names none'}\n")
        if licence is not None and name not in REVIEWED and not _is_allowed(licence):
            refused.append(name)
    for name in refused:
        sys.stderr.write(f"{name}: its licence is not allowed: {found[name].licence() or 'it names none'}\n")
    lock = json.loads(NPM_LOCK.read_bytes())["packages"]
    of_npm = {path: entry.get("license", "") for path, entry in lock.items() if path}
    refused_of_npm = [path for path, licence in sorted(of_npm.items()) if not _is_allowed(licence)]
    for path in refused_of_npm:
        sys.stderr.write(f"{path}: its licence is not allowed: {of_npm[path] or 'it names none'}\n")
    return 1 if refused or refused_of_npm else 0


def sbom(with_images: bool) -> int:
    """Writes a CycloneDX document for each lock."""
    SBOMS.mkdir(parents=True, exist_ok=True)
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    for lock in LOCKS:
        root = Component(name=f"attractor-{lock}", version=version, type=ComponentType.APPLICATION)
        bom = Bom(components=map(_component, packages(lock)))
        bom.metadata.component = root
        if with_images and lock in IMAGES:
            bom.components.update(_debian_packages(f"attractor-{lock}:local"))
        bom.register_dependency(root, bom.components)
        path = SBOMS / f"{lock}.cdx.json"
        path.write_text(JsonV1Dot6(bom).output_as_string(indent=1), encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}: {len(bom.components)} components\n")
    return 0


def _component(package: Package) -> Component:
    licence = package.licence()
    return Component(
        name=package.name,
        version=package.version,
        purl=PackageURL("pypi", None, package.name, package.version),
        bom_ref=f"{package.name}=={package.version}",
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
    )


def _debian_packages(image: str) -> Iterator[Component]:
    """Yields the Debian packages installed in the image."""
    command = ["docker", "run", "--rm", "--network=none", "--entrypoint", "dpkg-query", image]
    command += ["-W", "-f", "${Package} ${Version}\n"]
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        name, version = line.split()
        yield Component(
            name=name, version=version, purl=PackageURL("deb", "debian", name, version), bom_ref=f"deb:{name}={version}"
        )


def _licence(of: PackageMetadata) -> str:
    if expression := of.get("License-Expression"):
        return str(expression)
    classifiers = (line.rpartition(" :: ")[2] for line in of.get_all("Classifier", []) if line.startswith("License ::"))
    if known := sorted({CLASSIFIERS[name] for name in classifiers if name in CLASSIFIERS}):
        return " OR ".join(known)
    text = (of.get("License") or "").strip()
    return SPELLINGS.get(text, text)


def _is_allowed(licence: str) -> bool:
    """Returns whether the list permits an SPDX expression; any other text is not permitted."""
    try:
        return _permits(get_spdx_licensing().parse(licence))
    except ExpressionError:
        return False


def _permits(node: object) -> bool:
    if isinstance(node, OR | AND):
        return (any if isinstance(node, OR) else all)(map(_permits, node.args))
    return str(node) in ALLOWED


def main(arguments: list[str]) -> int:
    match arguments:
        case ["licences"]:
            return licences()
        case ["sbom", *options] if not set(options) - {"--images"}:
            return sbom(bool(options))
    sys.stderr.write(__doc__ or "")
    return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
