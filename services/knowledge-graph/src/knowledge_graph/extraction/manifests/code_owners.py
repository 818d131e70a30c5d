"""CODEOWNERS: which team must approve changes in a folder."""

from __future__ import annotations

from knowledge_graph.extraction.manifests.statement import Manifest


def read(text: str) -> Manifest:
    """Returns who owns which folder; people, files and patterns with wildcards are skipped. The last line about a
    folder counts."""
    last: dict[str, tuple[int, list[tuple[int, str]]]] = {}
    start = 0
    for line in text.split("\n"):
        fields = line.partition("#")[0].split()
        if len(fields) > 1:
            name = fields[0].strip("/").rpartition("/")[2]
            if name and not set("*?[!.") & set(name):
                teams = [one.rpartition("/")[2] for one in fields[1:] if one.startswith("@") and "/" in one]
                after = line.index(fields[0]) + len(fields[0])
                places = [(start + line.rindex(team), team) for team in teams if team and team in line[after:]]
                last[fields[0].rstrip("/")] = (start + line.index(fields[0]) + fields[0].rindex(name), places)
        start += len(line) + 1
    manifest = Manifest()
    for folder, (place, owners) in last.items():
        if owners:
            owned = manifest.thing(place, folder.strip("/").rpartition("/")[2], "")
            for at, team in owners:
                manifest.state(manifest.thing(at, team, "TEAM"), "OWNS", owned, "CODEOWNERS")
    return manifest
