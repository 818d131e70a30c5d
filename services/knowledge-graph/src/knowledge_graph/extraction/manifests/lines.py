"""Line-based manifests, which speak for their folder: requirements.txt, go.mod, Dockerfile."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement

from knowledge_graph.extraction.manifests.statement import STORE_IMAGES, Manifest


def requirements(text: str, folder: str) -> Manifest:
    """Reads a requirements.txt of pip; options, files and addresses are skipped."""
    manifest = Manifest()
    package = manifest.holder(folder)
    for start, line in _lines(text, "#"):
        stated = line.partition(" #")[0].partition(" --")[0].rstrip("\\ ")
        try:
            name = Requirement(stated).name
        except InvalidRequirement:
            continue
        manifest.state(package, "DEPENDS_ON", manifest.thing(start, name, "LIBRARY"), "requirements")
    return manifest


def go_module(text: str, folder: str) -> Manifest:
    """Reads a go.mod: the module and its requirements, without `// indirect` ones, which its modules require."""
    manifest = Manifest()
    package, in_block = manifest.holder(folder), False
    for start, line in _lines(text, ""):
        words = line.partition("//")[0].split()
        if words[:1] == ["module"] and len(words) > 1:
            name = _module_name(words[1])
            package = manifest.thing(start + line.rindex(name, 0, line.index(words[1]) + len(words[1])), name, "")
        elif words[:2] == ["require", "("] or words == [")"]:
            in_block = words != [")"]
        elif len(words) > 1 and (in_block or words[0] == "require") and "// indirect" not in line:
            name = words[0] if in_block else words[1]
            place = start + line.index(name, 0 if in_block else len("require"))
            manifest.state(package, "DEPENDS_ON", manifest.thing(place, name, "LIBRARY"), "require")
    return manifest


def _module_name(path: str) -> str:
    """Returns the name by which others refer to the module: the last part of its path that is not a version."""
    parts = [part for part in path.split("/") if part]
    return parts[-2] if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]) else parts[-1]


def dockerfile(text: str, folder: str) -> Manifest:
    """Reads a Dockerfile: the images that it builds on, without its own stages."""
    manifest = Manifest()
    image, stages = manifest.holder(folder), {"scratch"}
    for start, line in _lines(text, "#"):
        words = [word for word in line.split() if not word.startswith("--")]
        if len(words) < 2 or words[0].upper() != "FROM":
            continue
        name = words[1].rpartition("/")[2].partition("@")[0].partition(":")[0]
        if name.lower() not in stages and not name.startswith("$") and name:
            place = start + line.index(words[1]) + words[1].rindex(name)
            kind = "STORE" if name.lower() in STORE_IMAGES else "LIBRARY"
            manifest.state(image, "RUNS_ON", manifest.thing(place, name, kind), "FROM")
        stages |= {words[3].lower()} if len(words) > 3 and words[2].upper() == "AS" else set()
    return manifest


def _lines(text: str, comment: str) -> Iterator[tuple[int, str]]:
    """Yields the lines that have content, each with its position."""
    start = 0
    for line in text.split("\n"):
        content = line.lstrip()
        if content and not (comment and content.startswith(comment)):
            yield start + len(line) - len(content), content.rstrip()
        start += len(line) + 1
