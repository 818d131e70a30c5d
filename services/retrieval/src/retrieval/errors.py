"""The problems that the service reports to callers."""

from __future__ import annotations

from service_kit.problems import Conflict, Forbidden, InvalidRequest, NotFound, Problem


class SearchUnavailable(Problem):
    """No leg of the search could answer; `legs` has the reason for each."""

    status, type, title = 503, "search-unavailable", "Search is unavailable; try again"


class InvalidMetadataPath(InvalidRequest):
    """A metadata filter is invalid: `place` names the expression, and the detail says what is wrong with it."""

    type, title = "invalid-metadata-path", "A metadata filter is not a valid SQL/JSON path expression"


class FilterTooSlow(InvalidRequest):
    type, title = "filter-too-slow", "The filter takes too long in this workspace"


class UnknownWeight(InvalidRequest):
    """A weight has the name of no feature or leg; `features` and `legs` list those that exist."""

    type, title = "unknown-weight", "There is no such feature or leg"


class ScopeNeedsSession(InvalidRequest):
    type, title = "scope-needs-session", "The scope `session` requires session_id"


class UnknownSession(NotFound):
    type, title = "session-not-found", "Session not found"


class TooManyWorkspaces(InvalidRequest):
    type, title = "too-many-workspaces", "There are too many workspaces to search at once"


class GlobalNeedsKey(Forbidden):
    type, title = "global-needs-key", "Searching every workspace requires a key for all workspaces"


class SessionsUnavailable(Problem):
    status, type, title = 503, "sessions-unavailable", "Could not load the session's documents; try again"


class UnknownEmbeddingModel(InvalidRequest):
    """The model is not configured; `configured` lists those that are."""

    type, title = "unknown-embedding-model", "This embedding model is not configured"


class EmbeddingModelNotConfigured(Conflict):
    type, title = "embedding-model-not-configured", "This embedding space's model is no longer configured"


class EmbeddingSpaceInUse(Conflict):
    type, title = "embedding-space-in-use", "This embedding space is in use"


class EmbeddingSpaceDropping(Conflict):
    type, title = "embedding-space-dropping", "This embedding space is being deleted"


class WorkspaceBusy(Problem):
    status, type, title = 503, "workspace-busy", "The workspace's documents are being indexed; try again"


class UnknownTokenizer(InvalidRequest):
    """There is no tokenizer of this name; `available` lists those that exist."""

    type, title = "unknown-tokenizer", "Unknown tokenizer"


class TokenizerUnusable(Problem):
    status, type, title = 503, "tokenizer-unusable", "The tokenizer file cannot be read"


class ConvertedInvalid(ValueError):
    """The objects of a converted document contradict its event."""


class UnknownEncoder(NotFound):
    type, title = "embedding-model-not-found", "No such embedding model is configured"


class OtherDimensions(InvalidRequest):
    type, title = "other-dimensions", "The model has different dimensions"


class EmbeddingsUnavailable(Problem):
    status, type, title = 503, "embeddings-unavailable", "The embedding model does not respond; try again"
