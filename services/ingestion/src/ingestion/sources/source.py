"""What a kind of source implements: a listing of what is there, and the content of one item."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from ingestion.sources.settings import Reach
from service_kit.problems import InvalidRequest

Config = TypeVar("Config", contravariant=True)


@dataclass(frozen=True)
class Item:
    """A file of the source. `path` identifies it there, for good; `size` in bytes, None when only reading tells.

    `fingerprint` differs whenever the content does, and is the same while it does not, as far as the source can tell
    without reading it; None: only `fetch` tells. `uri` is shown to users: where the document is, without the path of
    the source on this server.
    """

    path: str
    fingerprint: str | None
    uri: str | None
    name: str
    size: int | None


@dataclass(frozen=True)
class Gap:
    """What could not be listed: of paths that begin with `prefix` (all when it is empty) nothing is known.

    Those among them that are not listed are left as they are. `reason` is a sentence.
    """

    prefix: str
    reason: str


@dataclass(frozen=True)
class Fetched:
    """An item's content, written to the target. `fingerprint` is compared with that of the next listing.

    `media_type` is what the source says, without parameters; `name` has the extension that the content deserves;
    `content_hash` is SHA-256 in hex, `size` in bytes.
    """

    fingerprint: str | None
    media_type: str | None
    name: str
    content_hash: str
    size: int


class SourceReader(Protocol):
    """One synchronisation's view of the source. It is used by one task at a time."""

    def items(self) -> AsyncIterator[Item | Gap]:
        """Yields everything that is there now and selected, in any order.

        Raises SourceUnavailable when the listing cannot be trusted as a whole: nothing is removed then.
        """

    async def fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched | None:
        """Writes the item's content to `target`, a file that may exist and is overwritten.

        None: it is what `known` says, after all. Raises ItemRefused (also beyond `max_bytes`), ItemVanished, or
        SourceUnavailable, which ends the synchronisation.
        """


@runtime_checkable
class Placed(Protocol):
    """A reader that tells `place`: what it found the source on. Found empty elsewhere, it is not believed."""

    place: str


class SourceKind(Protocol[Config]):
    """What a module of a kind offers by these names."""

    async def check(self, config: Config, reach: Reach) -> None:
        """Raises SourceRefused when a source must not be made of this. A source that is only away is accepted."""

    def open_reader(
        self, config: Config, reach: Reach, known: Mapping[str, str], scratch: Path, /
    ) -> AbstractAsyncContextManager[SourceReader]:
        """`known`: the fingerprint of each path taken before. `scratch`: an empty folder, removed afterwards.

        Entering raises SourceUnavailable when the source as a whole is away.
        """


class SourceRefused(InvalidRequest):
    """`detail` says in a sentence what is wrong with the configuration."""

    type, title = "source-refused", "The source cannot be used"


class SourceUnavailable(Exception):
    """The source is away as a whole. `slug` is the error's class for programs, `message` a sentence for users."""

    def __init__(self, slug: str, message: str) -> None:
        super().__init__(message)
        self.slug, self.message = slug, message


class ItemRefused(Exception):
    """This item cannot be taken (now); the others are. `message` is a sentence for users."""

    def __init__(self, slug: str, message: str) -> None:
        super().__init__(message)
        self.slug, self.message = slug, message


class ItemVanished(Exception):
    """The item was listed and is gone, or is nothing that anybody would call a document: it counts as not listed."""
