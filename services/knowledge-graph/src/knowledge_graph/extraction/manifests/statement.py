"""The names and statements of a manifest, each with its place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from knowledge_graph.extraction.word_lists import words

LONGEST = 512 * 1024
"""Maximum characters of a manifest; a longer one is not read."""
STORE_SCHEMES = words("store_schemes")
STORE_IMAGES = words("store_images")
CALL_SCHEMES = frozenset({"http", "https", "grpc", "grpcs", "ws", "wss", "dns", "thrift"})
BROKER_SCHEMES = frozenset({"amqp", "amqps", "nats", "kafka", "mqtt", "mqtts", "stomp", "pulsar"})
OWNER = re.compile(r"(?:^|[./_-])(?:owner|team|squad|owned[-_]by|owning[-_]team)$", re.IGNORECASE)
"""Keys of labels, tags and fields that name an owner."""
HOST = re.compile(r"([a-z][a-z0-9-]{1,60}+)(?:\.[a-z0-9-]{1,60}){0,2}(\.svc(?:\.cluster\.local)?)?(?::(\d{2,5}))?")
NAMES_HOST = re.compile(r"(?:HOST|ADDR|ADDRESS|URL|URI|ENDPOINT|SERVER|SERVERS|BROKERS?|UPSTREAM|DSN)$", re.IGNORECASE)
NO_SERVICE = frozenset({"localhost", "host", "0"})


class ManifestRefused(Exception):
    """A manifest is not read; the message is the reason."""


@dataclass(frozen=True)
class NamedThing:
    """A name in the manifest: characters `start` to `end` of the text. Both are 0 for the folder of the file, which the
    text does not name."""

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
    at: int | None = None
    """Where it is stated, if at neither end."""


@dataclass
class Manifest:
    """The names and statements of one manifest."""

    things: list[NamedThing] = field(default_factory=list)
    statements: list[ManifestStatement] = field(default_factory=list)

    def thing(self, start: int, surface: str, entity_type: str) -> NamedThing:
        """Adds the name at this position of the text."""
        one = NamedThing(start, start + len(surface), surface, entity_type)
        self.things.append(one)
        return one

    def holder(self, folder: str) -> NamedThing:
        """Adds the folder for which the file speaks."""
        one = NamedThing(0, 0, folder, "")
        self.things.append(one)
        return one

    def state(
        self, source: NamedThing, relation_type: str, target: NamedThing, phrase: str, at: int | None = None
    ) -> None:
        if source.surface != target.surface:
            self.statements.append(ManifestStatement(source, target, relation_type, phrase, at))


def kind_of_store(name: str) -> str | None:
    """Returns STORE if a part of the name is a data store's image: `rating-redis`, `accounts_postgres`."""
    return "STORE" if {*re.split(r"[-_]", name.lower())} & (STORE_IMAGES | {"db", "database", "pg"}) else None


def called(text: str, start: int, key: str = "") -> Iterator[tuple[int, str, str, str]]:
    """Yields position, host, type and relation of an address of another service (`http://order-api:8080`), and of a
    bare host if `key` says that it is one (`DB_HOST`).

    Internet hosts name no service of the workspace; hosts in a cluster begin with the service's name.
    """
    bare = HOST.fullmatch(text.strip()) if "://" not in text else None
    if bare is not None:
        is_inside = bare.group(2) is not None or "." not in bare.group()
        if (
            is_inside
            and bare.group(1) not in NO_SERVICE
            and NAMES_HOST.search(key)
            and (bare.group(2) or bare.group(3))
        ):
            kind = kind_of_store(bare.group(1))
            found = text.index(bare.group(1))
            yield start + found, bare.group(1), kind or "SERVICE", "USES" if kind else "CALLS"
        return
    if text.lstrip().startswith("jdbc:"):
        text = text.replace("jdbc:", "     ", 1)
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
    elif scheme in BROKER_SCHEMES:
        yield start + place, surface, "SERVICE", "USES"
    elif scheme in CALL_SCHEMES:
        yield start + place, surface, "SERVICE", "CALLS"
