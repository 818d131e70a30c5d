"""`make sbom`: a document for each image that names what its lock pins."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from api_calls import REPOSITORY
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

SCRIPT = REPOSITORY / "infra" / "release" / "dependencies.py"
PIN = re.compile(r"^([^\s=#]+)==(\S+)", re.MULTILINE)


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    """The text of each document by the name of its lock."""
    written = subprocess.run([sys.executable, str(SCRIPT), "sbom"], capture_output=True, text=True)
    assert written.returncode == 0, written.stderr
    places = [Path(line.partition(":")[0]) for line in written.stdout.splitlines()]
    return {place.name.removesuffix(".cdx.json"): (REPOSITORY / place).read_text(encoding="utf-8") for place in places}


def test_every_image_and_the_embedded_stack_has_a_valid_document(documents: dict[str, str]) -> None:
    locks = {path.stem for path in (REPOSITORY / "requirements").glob("*.txt")}
    assert documents.keys() == locks - {"dev", "client"}  # which are in no image
    for name, text in documents.items():
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None, name


def test_a_document_names_every_locked_package_and_its_licence(documents: dict[str, str]) -> None:
    for name, text in documents.items():
        document: dict[str, Any] = json.loads(text)
        assert document["metadata"]["component"]["name"] == f"attractor-{name}"
        pinned = set(PIN.findall((REPOSITORY / "requirements" / f"{name}.txt").read_text(encoding="utf-8")))
        components = document["components"]
        assert {(one["name"], one["version"]) for one in components} == pinned
        assert {one["purl"] for one in components} == {f"pkg:pypi/{package}@{version}" for package, version in pinned}
        licensed = [one for one in components if one.get("licenses")]
        assert len(licensed) > 0.8 * len(components), name  # those of other platforms are not installed here
