"""The problems that callers are told."""

from __future__ import annotations

from service_kit.problems import Conflict, NotFound, Problem


class SessionNotFound(NotFound):
    type, title = "session-not-found", "You have no such session in this workspace"


class UnknownDocument(NotFound):
    type, title = "document-not-found", "There is no such document in this workspace"


class TooManySessionDocuments(Conflict):
    type, title = "too-many-session-documents", "The session has reached its limit of documents"


class RunNotFound(NotFound):
    type, title = "run-not-found", "You have no such run in this workspace"


class BadEventId(Problem):
    status, type, title = 400, "bad-event-id", "Last-Event-ID was not issued by this stream"
