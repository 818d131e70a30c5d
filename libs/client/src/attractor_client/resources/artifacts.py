"""The artifacts of sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.artifacts import (
    ArtifactDiff,
    ArtifactFormat,
    ArtifactPatch,
    ArtifactPut,
    ArtifactReceipt,
    ArtifactRestore,
    ArtifactVersion,
    ArtifactView,
    IndexedArtifact,
)
from contracts.base import Page, Request


class SessionArtifacts:
    """`client.artifacts`: the artifact of a session, at most one, with all of its versions.

    With a `version` (`ArtifactView.version`), calls raise StaleVersion if the artifact has changed since.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def get(self, session_id: UUID, index: int | None = None) -> ArtifactView:
        """Returns a version with its text, by default the current one."""
        parts = () if index is None else ("versions", str(index))
        return await self.transport.get(_place(session_id, *parts), ArtifactView)

    async def put(self, session_id: UUID, body: ArtifactPut, *, version: int | None = None) -> ArtifactView:
        """Creates the artifact, or adds a version with the whole text."""
        return await self._change("PUT", session_id, (), body, version)

    async def patch(self, session_id: UUID, body: ArtifactPatch, *, version: int | None = None) -> ArtifactView:
        """Replaces a span, or the texts that edits find. Raises Conflict if one is not found, or is ambiguous."""
        return await self._change("PATCH", session_id, (), body, version)

    def versions(self, session_id: UUID) -> AsyncIterator[ArtifactVersion]:
        """Lists the versions, newest first."""
        return every(self.transport, _place(session_id, "versions"), Page[ArtifactVersion])

    async def diff(self, session_id: UUID, from_index: int | None = None, to_index: int | None = None) -> ArtifactDiff:
        """Compares two versions, by default the current one with the one it was made from."""
        params = {"from_index": from_index, "to_index": to_index}
        return await self.transport.get(_place(session_id, "diff"), ArtifactDiff, params)

    async def undo(self, session_id: UUID, *, version: int | None = None) -> ArtifactView:
        """Goes back to the version that the current one was made from. Raises Conflict if there is none."""
        return await self._change("POST", session_id, ("undo",), None, version)

    async def redo(self, session_id: UUID, *, version: int | None = None) -> ArtifactView:
        """Goes forward to the newest version made from the current one. Raises Conflict if there is none."""
        return await self._change("POST", session_id, ("redo",), None, version)

    async def restore(self, session_id: UUID, index: int, *, version: int | None = None) -> ArtifactView:
        """Adds a version with the text of version `index`."""
        return await self._change("POST", session_id, ("restore",), ArtifactRestore(index=index), version)

    async def index(self, session_id: UUID, index: int | None = None) -> IndexedArtifact:
        """Makes a document of a version, by default the current one; the next indexed version replaces it."""
        params = {"index": index}
        return await self.transport.fetch(
            "POST", _place(session_id, "index"), IndexedArtifact, params=params, repeatable=True
        )

    @asynccontextmanager
    async def export(
        self, session_id: UUID, format: ArtifactFormat = ArtifactFormat.markdown, index: int | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Opens a version, by default the current one, as a file: `async with client.artifacts.export(id) as parts`.

        Raises Conflict if there is no file in this format, Unreachable if the download breaks off.
        """
        params = {"format": format.value, "index": index}
        async with self.transport.stream(_place(session_id, "export"), params=params) as response:
            yield response.aiter_bytes()

    async def delete(self, session_id: UUID, *, version: int | None = None) -> ArtifactReceipt:
        """Deletes the artifact with all versions; `remaining` is 0 everywhere if nothing is left."""
        return await self.transport.fetch("DELETE", _place(session_id), ArtifactReceipt, headers=_if_match(version))

    async def _change(
        self, method: str, session_id: UUID, parts: tuple[str, ...], body: Request | None, version: int | None
    ) -> ArtifactView:
        place = _place(session_id, *parts)
        return await self.transport.fetch(method, place, ArtifactView, body=body, headers=_if_match(version))


def _place(session_id: UUID, *parts: str) -> str:
    return path("v1/sessions", session_id, "artifact", *parts)


def _if_match(version: int | None) -> dict[str, str] | None:
    return None if version is None else {"If-Match": f'"{version}"'}
