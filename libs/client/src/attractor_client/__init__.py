"""The typed HTTP client of Attractor and the attractor command."""

from attractor_client.client import AttractorClient
from attractor_client.errors import (
    AttractorError,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    NotSendable,
    RateLimited,
    StaleVersion,
    StreamInterrupted,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
)
from attractor_client.http.retry import RetryPolicy
from attractor_client.resources.runs import RunEvent
from attractor_client.version import VERSION

__all__ = [
    "VERSION",
    "AttractorClient",
    "AttractorError",
    "Conflict",
    "Forbidden",
    "InvalidRequest",
    "NotFound",
    "NotSendable",
    "RateLimited",
    "RetryPolicy",
    "RunEvent",
    "StaleVersion",
    "StreamInterrupted",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
    "Unreachable",
]
