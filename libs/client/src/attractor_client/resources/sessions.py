"""Sessions and their messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from attractor_client.resources.runs import RunEvent, Runs
from contracts.artifact_actions import ArtifactAction, ArtifactTheme, MarkedSpan
from contracts.base import Page
from contracts.images import ImageAttachment
from contracts.orchestrator import (
    ConversationMode,
    HeadUpdate,
    Message,
    MessageCreate,
    MessageRegenerate,
    OnBusy,
    Run,
    Session,
    SessionCreate,
    SessionDocument,
    SessionHit,
    SessionReceipt,
    SessionState,
    SessionUpdate,
    TranscriptFormat,
)
from contracts.retrieval import SearchScope
from contracts.workspace_settings import RoleModel

SESSIONS = "/v1/sessions"


class Sessions:
    """`client.sessions`: the sessions of the key's user."""

    def __init__(self, transport: Transport, runs: Runs) -> None:
        self.transport, self.runs = transport, runs

    async def create(
        self, title: str | None = None, *, temporary: bool = False, idempotency_key: str | None = None
    ) -> Session:
        """Creates a session; without a title it gets one after its first turn.

        A temporary session is neither listed nor remembered, and is erased a day after its last use.
        """
        body = SessionCreate(title=title, temporary=temporary)
        return await self.transport.create(SESSIONS, body, Session, idempotency_key)

    def all(self, *, archived: bool = False, pinned: bool | None = None) -> AsyncIterator[Session]:
        """Lists sessions, pinned ones first, then the most recently used; the archived ones only if `archived`."""
        return every(self.transport, SESSIONS, Page[Session], {"archived": archived or None, "pinned": pinned})

    def search(self, query: str) -> AsyncIterator[SessionHit]:
        """Finds titles and messages with all words, newest first; the last word may be the beginning of one."""
        return every(self.transport, path("v1/sessions", "search"), Page[SessionHit], {"q": query})

    async def get(self, session_id: UUID) -> SessionState:
        return await self.transport.get(path("v1/sessions", session_id), SessionState)

    async def rename(self, session_id: UUID, title: str, *, version: int | None = None) -> Session:
        """Renames a session; with `version`, raises StaleVersion if it has changed since that version."""
        return await self._change(session_id, SessionUpdate(title=title), version)

    async def pin(self, session_id: UUID, pinned: bool = True, *, version: int | None = None) -> Session:
        """Pins a session to the front of the list, or unpins it."""
        return await self._change(session_id, SessionUpdate(pinned=pinned), version)

    async def archive(self, session_id: UUID, archived: bool = True, *, version: int | None = None) -> Session:
        """Removes a session from the list, or restores it."""
        return await self._change(session_id, SessionUpdate(archived=archived), version)

    @asynccontextmanager
    async def export(
        self, session_id: UUID, format: TranscriptFormat = TranscriptFormat.markdown
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Opens the session as a file: `async with client.sessions.export(id) as parts`.

        Raises Unreachable if the download breaks off; the parts received until then are incomplete.
        """
        place = path("v1/sessions", session_id, "export")
        async with self.transport.stream(place, params={"format": format.value}) as response:
            yield response.aiter_bytes()

    async def _change(self, session_id: UUID, change: SessionUpdate, version: int | None) -> Session:
        return await self.transport.fetch(
            "PATCH",
            path("v1/sessions", session_id),
            Session,
            body=change,
            headers=_if_match(version),
            repeatable=version is None,
        )

    async def delete(self, session_id: UUID, *, version: int | None = None) -> SessionReceipt:
        """Deletes the session with everything in it; `remaining` is 0 everywhere if nothing is left."""
        return await self.transport.fetch(
            "DELETE", path("v1/sessions", session_id), SessionReceipt, headers=_if_match(version)
        )

    def documents(self, session_id: UUID) -> AsyncIterator[SessionDocument]:
        """Lists the documents attached to a session."""
        return every(self.transport, path("v1/sessions", session_id, "documents"), Page[SessionDocument])

    async def attach(self, session_id: UUID, document_id: UUID) -> SessionDocument:
        """Attaches a document of the workspace; does nothing if it is already attached."""
        place = path("v1/sessions", session_id, "documents", document_id)
        return await self.transport.fetch("PUT", place, SessionDocument)

    async def detach(self, session_id: UUID, document_id: UUID) -> None:
        """Detaches a document from a session; the document itself stays."""
        await self.transport.send("DELETE", path("v1/sessions", session_id, "documents", document_id))

    async def attach_image(self, session_id: UUID, name: str, data: bytes, media_type: str) -> ImageAttachment:
        """Attaches a PNG, JPEG, WebP or GIF of at most 20 MiB; `send` shows it by its id.

        It is stored without metadata, scaled to at most 2,048 pixels, and deleted a day later if no message shows it.
        """
        return await self.transport.fetch(
            "POST",
            path("v1/sessions", session_id, "attachments"),
            ImageAttachment,
            content=data,
            params={"name": name},
            headers={"Content-Type": media_type},
            repeatable=False,
        )

    def images(self, session_id: UUID) -> AsyncIterator[ImageAttachment]:
        """Lists a session's images, oldest first."""
        return every(self.transport, path("v1/sessions", session_id, "attachments"), Page[ImageAttachment])

    async def image(self, session_id: UUID, image_id: UUID) -> bytes:
        """Returns the image as stored: PNG or JPEG."""
        return (await self.transport.send("GET", path("v1/sessions", session_id, "attachments", image_id))).content

    async def delete_image(self, session_id: UUID, image_id: UUID) -> None:
        """Deletes an image; the messages that show it stay."""
        await self.transport.send("DELETE", path("v1/sessions", session_id, "attachments", image_id))

    def messages(self, session_id: UUID, *, tree: bool = False, last: int | None = None) -> AsyncIterator[Message]:
        """Lists the messages up to the session's head, or the `last` of them; with `tree` those of all branches."""
        place = path("v1/sessions", session_id, "messages")
        return every(self.transport, place, Page[Message], {"tree": "true" if tree else None, "last": last})

    async def send(
        self,
        session_id: UUID,
        content: str,
        *,
        document_ids: Sequence[UUID] | None = None,
        parent_id: UUID | None = None,
        on_busy: OnBusy = OnBusy.enqueue,
        timezone: str = "UTC",
        asking: ArtifactAction | ArtifactTheme | MarkedSpan | UUID | None = None,
        scope: SearchScope | None = None,
        rag_enabled: bool = True,
        rewrite_query: bool | None = None,
        open_document_id: UUID | None = None,
        attachment_ids: Sequence[UUID] = (),
        models: Sequence[RoleModel] | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Sends a message and queues the run that answers it, only from `document_ids` if given.

        `scope` says where to search: by default the session's documents, or the workspace if it has none; without
        `rag_enabled` nothing is searched. `open_document_id` limits the search to one document (`conversation_mode`
        chatpdf). With `rewrite_query` a chat model words the query from the conversation.

        The message follows `parent_id`, by default the session's head. `asking` says what to do with the session's
        artifact, if the wording should not decide: an action, a theme, the only text to change, or the id of a quick
        action. `timezone` (IANA name) determines what "today" means.

        `attachment_ids` are images of the session (`attach_image`): a vision model answers from them, without a search.
        `models` write this answer, in order of preference, instead of the workspace's.
        """
        ids = None if document_ids is None else list(document_ids)
        body = MessageCreate(
            content=content,
            parent_id=parent_id,
            attachment_ids=list(attachment_ids),
            document_ids=ids,
            on_busy=on_busy,
            timezone=timezone,
            highlight=asking if isinstance(asking, MarkedSpan) else None,
            artifact_action=asking if isinstance(asking, ArtifactAction) else None,
            theme=asking if isinstance(asking, ArtifactTheme) else None,
            quick_action=asking if isinstance(asking, UUID) else None,
            rag_enabled=rag_enabled,
            rag_scope=scope,
            rewrite_query=rewrite_query,
            conversation_mode=ConversationMode.chatpdf if open_document_id else ConversationMode.normal,
            active_pdf_document_id=open_document_id,
            models=None if models is None else list(models),
        )
        return await self.transport.create(path("v1/sessions", session_id, "messages"), body, Run, idempotency_key)

    async def edit(
        self,
        question: Message,
        content: str,
        *,
        timezone: str = "UTC",
        scope: SearchScope | None = None,
        rag_enabled: bool = True,
        models: Sequence[RoleModel] | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Rewords the question on a new branch, with the options of `send`; the old one stays."""
        body = MessageCreate(
            content=content,
            parent_id=question.parent_id,
            timezone=timezone,
            rag_scope=scope,
            rag_enabled=rag_enabled,
            models=None if models is None else list(models),
        )
        place = path("v1/sessions", question.session_id, "messages")
        return await self.transport.create(place, body, Run, idempotency_key, nulls=True)

    async def regenerate(
        self,
        message_id: UUID,
        *,
        document_ids: Sequence[UUID] | None = None,
        models: Sequence[RoleModel] | None = None,
        on_busy: OnBusy = OnBusy.enqueue,
        idempotency_key: str | None = None,
    ) -> Run:
        """Queues another answer to a question, or next to an answer; by default from the same documents and models."""
        ids = None if document_ids is None else list(document_ids)
        body = MessageRegenerate(document_ids=ids, models=None if models is None else list(models), on_busy=on_busy)
        place = path("v1/messages", message_id, "regenerate")
        return await self.transport.create(place, body, Run, idempotency_key)

    async def delete_message(self, message_id: UUID) -> None:
        """Deletes the message and everything that follows it."""
        await self.transport.send("DELETE", path("v1/messages", message_id))

    async def move_head(self, session_id: UUID, message_id: UUID, *, newest: bool = False) -> Session:
        """Switches to the branch that ends at the message, or with `newest` at the newest one below it."""
        body = HeadUpdate(message_id=message_id, newest=newest)
        return await self.transport.fetch("PUT", path("v1/sessions", session_id, "head"), Session, body=body)

    async def ask(
        self, session_id: UUID, content: str, *, document_ids: Sequence[UUID] | None = None
    ) -> AsyncIterator[RunEvent]:
        """Sends a message and yields the run's events up to the terminal one."""
        run = await self.send(session_id, content, document_ids=document_ids)
        async for event in self.runs.events(run.id):
            yield event


def _if_match(version: int | None) -> dict[str, str] | None:
    return None if version is None else {"If-Match": f'"{version}"'}
