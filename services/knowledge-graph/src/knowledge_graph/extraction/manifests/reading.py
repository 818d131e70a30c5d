"""Reads a document that is a manifest, and maps its statements to the document's chunks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from knowledge_graph.extraction.identifiers import kind_of
from knowledge_graph.extraction.manifests import (
    code_owners,
    lines,
    maven,
    packages,
    terraform,
    yaml_manifest,
)
from knowledge_graph.extraction.manifests.statement import (
    LONGEST,
    Manifest,
    ManifestRefused,
    ManifestStatement,
    NamedThing,
)
from knowledge_graph.extraction.records import SourceDocument, Span

DOCKERFILE = "dockerfile"
ManifestReader = Callable[[str, str], Manifest]
"""Reads a manifest from its text and the name of its folder."""


def _alone(read: Callable[[str], Manifest]) -> ManifestReader:
    """Returns a reader that ignores the folder, for manifests that name their own subject."""
    return lambda text, _: read(text)


def _sql_schema(text: str) -> Manifest:
    from knowledge_graph.extraction.manifests import sql_schema  # noqa: PLC0415  its library is slow to import

    return sql_schema.read(text)


BY_NAME: dict[str, ManifestReader] = {
    "pyproject.toml": _alone(packages.pyproject),
    "cargo.toml": _alone(packages.cargo),
    "package.json": _alone(packages.package_json),
    "codeowners": _alone(code_owners.read),
    "requirements.txt": lines.requirements,
    "go.mod": lines.go_module,
    "pom.xml": maven.read,
    DOCKERFILE: lines.dockerfile,
    "openapi.json": _alone(yaml_manifest.read),
    "swagger.json": _alone(yaml_manifest.read),
}
BY_SUFFIX: dict[str, ManifestReader] = {
    "yaml": _alone(yaml_manifest.read),
    "yml": _alone(yaml_manifest.read),
    "sql": _alone(_sql_schema),
    "tf": _alone(terraform.read),
}
GAP = "\n\n"


@dataclass(frozen=True)
class Place:
    """A name in the manifest, and its place in a chunk."""

    chunk: int
    span: Span


@dataclass
class ReadManifest:
    """What a document states as a manifest; empty if it is none. `note` is the reason for a refusal."""

    places: dict[NamedThing, Place] = field(default_factory=dict)
    statements: list[ManifestStatement] = field(default_factory=list)
    note: str | None = None
    said: dict[ManifestStatement, Place] = field(default_factory=dict)
    """Where a statement is made, if at neither of its ends."""

    def spans(self, chunk: int) -> list[Span]:
        return [place.span for place in self.places.values() if place.chunk == chunk]


def read_manifest(document: SourceDocument) -> ReadManifest:
    """Returns what the document states if it is a manifest that can be read."""
    name = document.name.rpartition("/")[2]
    read = BY_NAME.get(name.lower()) or BY_SUFFIX.get(name.rpartition(".")[2].lower())
    if read is None and name.lower().startswith(f"{DOCKERFILE}."):
        read = lines.dockerfile
    if read is None:
        return ReadManifest()
    size = sum(len(chunk.content) for chunk in document.chunks)
    if size > LONGEST:
        return ReadManifest(
            note=f"{name} was not read as a manifest: it has {size:,} characters of at most {LONGEST:,}"
        )
    folder = document.name.rpartition("/")[0].rpartition("/")[2] or name
    if len(name) > len(DOCKERFILE) and name.lower().startswith(f"{DOCKERFILE}."):
        folder = name.partition(".")[2]
    try:
        manifest = read(GAP.join(chunk.content for chunk in document.chunks), folder)
    except ManifestRefused as error:
        return ReadManifest(note=f"{name} was not read as a manifest: {error}")
    return _laid(document, manifest)


def _laid(document: SourceDocument, manifest: Manifest) -> ReadManifest:
    starts, start = list[int](), 0
    for chunk in document.chunks:
        starts.append(start)
        start += len(chunk.content) + len(GAP)
    places = dict[NamedThing, Place]()
    for one in manifest.things:
        number = bisect_right(starts, one.start) - 1
        first, last = one.start - starts[number], one.end - starts[number]
        if one.end == 0:
            places[one] = Place(0, Span(0, 0, one.surface, kind_of(one.surface)))
        elif document.chunks[number].content[first:last] == one.surface:
            entity_type = one.entity_type or kind_of(one.surface)
            places[one] = Place(number, Span(first, last, one.surface, entity_type))
    stated = [one for one in manifest.statements if one.source in places and one.target in places]
    said = dict[ManifestStatement, Place]()
    for statement in stated:
        if statement.at is not None:
            number = bisect_right(starts, statement.at) - 1
            first = statement.at - starts[number]
            said[statement] = Place(number, Span(first, first, "", ""))
    return ReadManifest(places, stated, said=said)
