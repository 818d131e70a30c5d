"""The interface of a kind of source: it lists its items and reads the content of one."""

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
    """A file of a source. `path` identifies it permanently; `size` is in bytes, None if unknown before reading.

    `fingerprint` changes exactly when the content does, as far as the source can tell without reading it; None if only
    `fetch` can tell. `uri` shows users where the document is, without the path of the source on this server.
    """

    path: str
    fingerprint: str | None
    uri: str | None
    name: str
    size: int | None


@dataclass(frozen=True)
class Gap:
    """A part that could not be listed: paths that begin with `prefix`, or all paths if it is empty.

    Files there that were not listed are left unchanged. `reason` is a sentence.
    """

    prefix: str
    reason: str


@dataclass(frozen=True)
class Fetched:
    """An item whose content was written to the target. The next listing is compared with `fingerprint`.

    `media_type` is as the source declares it, without parameters; the extension of `name` fits the content;
    `content_hash` is SHA-256 in hex, `size` in bytes.
    """

    fingerprint: str | None
    media_type: str | None
    name: str
    content_hash: str
    size: int


class SourceReader(Protocol):
    """A synchronisation's view of its source. One task at a time uses it."""

    def items(self) -> AsyncIterator[Item | Gap]:
        """Yields all selected items that the source has now, in any order.

        Raises SourceUnavailable if the listing as a whole cannot be trusted; nothing is removed then.
        """

    async def fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched | None:
        """Writes the item's content to `target`, a file that may exist and is overwritten.

        Returns None if the content is still what `known` says. Raises ItemRefused (also beyond `max_bytes`),
        ItemVanished, or SourceUnavailable, which ends the synchronisation.
        """


@runtime_checkable
class Placed(Protocol):
    """A reader that knows where it found the source. An empty source at another `place` than before is not trusted."""

    place: str


class SourceKind(Protocol[Config]):
    """The functions that the module of a kind provides."""

    async def check(self, config: Config, reach: Reach) -> None:
        """Raises SourceRefused if this must not become a source. One that is only unavailable is accepted."""

    def open_reader(
        self, config: Config, reach: Reach, known: Mapping[str, str], scratch: Path, /
    ) -> AbstractAsyncContextManager[SourceReader]:
        """Opens the source; raises SourceUnavailable on entering if it is unavailable as a whole.

        `known` maps the paths taken in before to their fingerprints. `scratch` is an empty folder, removed afterwards.
        """


class SourceRefused(InvalidRequest):
    """The configuration is wrong; `detail` says why in a sentence."""

    type, title = "source-refused", "The source cannot be used"


class SourceUnavailable(Exception):
    """The source is unavailable as a whole. `slug` names the error for programs, `message` is for users."""

    def __init__(self, slug: str, message: str) -> None:
        super().__init__(message)
        self.slug, self.message = slug, message


class ItemRefused(Exception):
    """The item cannot be taken in, at least now; others still are. `message` is a sentence for users."""

    def __init__(self, slug: str, message: str) -> None:
        super().__init__(message)
        self.slug, self.message = slug, message


class ItemVanished(Exception):
    """The item was listed but is gone, or is not a document; it counts as not listed."""
