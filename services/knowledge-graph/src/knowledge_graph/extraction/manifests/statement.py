"""What a manifest names and states, each with its place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from knowledge_graph.extraction.word_lists import words

LONGEST = 512 * 1024
"""Characters of a manifest that is read; a longer one states nothing."""
STORE_SCHEMES = words("store_schemes")
STORE_IMAGES = words("store_images")
CALL_SCHEMES = frozenset({"http", "https", "grpc", "grpcs", "ws", "wss"})
NO_SERVICE = frozenset({"localhost", "host", "0"})


class ManifestRefused(Exception):
    """Says why a manifest is not read."""


@dataclass(frozen=True)
class NamedThing:
    """A name that the manifest gives: characters `start` to `end` of the text hold it; both are 0 for the folder of the
    file, which no text names."""

    start: int
    end: int
    surface: str
    entity_type: str


@dataclass(frozen=True)
class ManifestStatement:
    source: NamedThing
    target: NamedThing
    relation_type: str
    phrase: str


@dataclass
class Manifest:
    """What one manifest says."""

    things: list[NamedThing] = field(default_factory=list)
    statements: list[ManifestStatement] = field(default_factory=list)

    def thing(self, start: int, surface: str, entity_type: str) -> NamedThing:
        """Adds what the text names at this place."""
        one = NamedThing(start, start + len(surface), surface, entity_type)
        self.things.append(one)
        return one

    def holder(self, folder: str) -> NamedThing:
        """Adds the folder that the file speaks for."""
        one = NamedThing(0, 0, folder, "")
        self.things.append(one)
        return one

    def state(self, source: NamedThing, relation_type: str, target: NamedThing, phrase: str) -> None:
        if source.surface != target.surface:
            self.statements.append(ManifestStatement(source, target, relation_type, phrase))


def called(text: str, start: int) -> Iterator[tuple[int, str, str, str]]:
    """Yields place, host, type and relation of an address of another service: `http://order-api:8080`.

    Hosts of the internet name no service of the workspace; those of a cluster begin with the service's name.
    """
    try:
        parts = urlsplit(text.strip())
        host = parts.hostname or ""
    except ValueError:
        return
    scheme = parts.scheme.partition("+")[0]
    first, _, rest = host.partition(".")
    is_inside = not rest or rest.endswith(("svc", "svc.cluster.local"))
    place = text.lower().find(host)
    if not host or place < 0 or not is_inside or first in NO_SERVICE or not first[0].isalpha():
        return
    surface = text[place : place + len(first)]
    if scheme in STORE_SCHEMES:
        yield start + place, surface, "STORE", "USES"
    elif scheme in CALL_SCHEMES:
        yield start + place, surface, "SERVICE", "CALLS"
