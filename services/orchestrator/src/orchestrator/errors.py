"""What callers are told. `GraphError` is for what ends a run."""

from __future__ import annotations

from service_kit.problems import Conflict, NotFound, Problem


class SessionNotFound(NotFound):
    type, title = "session-not-found", "There is no such session"


class TooManySessionDocuments(Conflict):
    type, title = "too-many-session-documents", "The session has as many documents as it can have"


class RunNotFound(NotFound):
    type, title = "run-not-found", "There is no such run"


class IdempotencyKeyReused(Conflict):
    type, title = "idempotency-key-reused", "This Idempotency-Key was used for another request"


class BadEventId(Problem):
    status, type, title = 400, "bad-event-id", "Last-Event-ID is not an id that this stream gave"


class ServiceFailed(Exception):
    """Another service did not answer a call that a run made; the message says which and why."""


class LeaseLost(Exception):
    """Another process has taken the run over, or the run is gone: this attempt's result must not land."""
