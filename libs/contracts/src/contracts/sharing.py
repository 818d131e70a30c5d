"""Read-only snapshots of sessions, for members of the workspace or by link."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from contracts.base import Request, Resource
from contracts.orchestrator import AnswerMode, MessageRole, MessageStatus

SHARES_PATH = "/internal/shares"  # where the orchestrator opens one for the gateway


class ShareAudience(StrEnum):
    """`members`: users of the workspace, with their key. `link`: anyone who has the token, if owners allow that."""

    members = "members"
    link = "link"


class ShareCreate(Request):
    """The snapshot ends with `message_id`, by default the session's head. By default it can be read for 30 days."""

    message_id: UUID | None = None
    audience: ShareAudience = ShareAudience.members
    expires_at: datetime | None = None


class Share(Resource):
    """A snapshot that can be read until `expires_at`, as long as its session, last message and user exist."""

    id: UUID
    session_id: UUID
    message_id: UUID
    title: str | None
    audience: ShareAudience
    created_at: datetime
    expires_at: datetime


class ShareCreated(Share):
    """`token` is shown only this once: only a hash of it is stored. Read the share at GET /v1/shared/{token}."""

    token: str


class SharedCitation(Resource):
    """A source of an answer; `quote` is null when read by link."""

    number: int
    document_name: str
    section: str | None
    page: int | None
    line_start: int | None
    line_end: int | None
    quote: str | None


class SharedMessage(Resource):
    """`withheld`: the answer consists of quotes, which links do not show; `content` is empty."""

    role: MessageRole
    status: MessageStatus
    content: str
    withheld: bool = False
    mode: AnswerMode | None = None
    citations: list[SharedCitation] = []
    created_at: datetime


class SharedSession(Resource):
    """The messages from the first of a session up to one of its answers, as they were when shared."""

    title: str | None
    audience: ShareAudience
    created_at: datetime
    expires_at: datetime
    messages: list[SharedMessage]


class SharingSettings(Resource):
    """Whether members may share by link. Use `version` in If-Match."""

    links: bool = False
    version: int = 0


class SharingUpdate(Request):
    links: bool


class PresentedShare(Resource):
    """The parts of a token that the gateway asks the orchestrator to check."""

    share_id: UUID
    secret: Annotated[str, Field(max_length=100)]


class OpenedShare(Resource):
    """A share whose token is valid; the gateway still has to look up its user."""

    created_by: UUID
    session: SharedSession
