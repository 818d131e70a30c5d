"""The problems reported to callers."""

from __future__ import annotations

from service_kit.problems import Conflict, Forbidden, InvalidRequest, NotFound, Problem, Unavailable


class SessionNotFound(NotFound):
    type, title = "session-not-found", "You have no such session in this workspace"


class MessageNotFound(NotFound):
    type, title = "message-not-found", "You have no such message"


class ScopeNeedsWiderKey(Forbidden):
    type, title = "global-needs-key", "An answer from every workspace requires a key that reads more than one workspace"


class NotAnEndedAnswer(Conflict):
    type, title = "not-an-ended-answer", "Only an answer that has ended can be rated"


class SessionBusy(Conflict):
    type, title = "session-busy", "Another answer of this session is still being written"


class UnknownDocument(NotFound):
    type, title = "document-not-found", "There is no such document in this workspace"


class TooManySessionDocuments(Conflict):
    type, title = "too-many-session-documents", "The session has reached its limit of documents"


class ShareNotFound(NotFound):
    type, title = "share-not-found", "There is no such share, or it has ended"


class NothingToShare(Conflict):
    type, title = "nothing-to-share", "The session has no messages"


class AnswerUnderWay(Conflict):
    type, title = "answer-under-way", "An answer in the part to be shared is still being written"


class TooMuchToShare(Conflict):
    type, title = "too-much-to-share", "The part to be shared is too long"


class ShareNotRepeatable(Conflict):
    type, title = (
        "share-not-repeatable",
        "It is shared, but its token cannot be shown again; end the share and create another",
    )


class LinksNotAllowed(Forbidden):
    type, title = "links-not-allowed", "No owner of the workspace has allowed sharing by link"


class BadShareExpiry(InvalidRequest):
    type, title = "bad-share-expiry", "The expiry time is not in the future, or too far ahead"


class BadPeriod(InvalidRequest):
    type, title = "bad-period", "The period is empty, or too long"


class RunNotFound(NotFound):
    type, title = "run-not-found", "You have no such run in this workspace"


class RunNotFailed(Conflict):
    type, title = "run-not-failed", "Only a run that has failed can be tried again"


class TooManyQueued(Problem):
    status, type, title = 429, "too-many-queued-runs", "You have reached your limit of waiting runs"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, headers={"Retry-After": "5"})


class BadEventId(Problem):
    status, type, title = 400, "bad-event-id", "Last-Event-ID was not issued by this stream"


class GraphError(Problem):
    """Fails a run: `type` and `title` become its `error_type` and `error_message`; `__cause__` is logged."""

    type, title = "graph-error", "The conversation graph failed"


class RoutingError(GraphError):
    type, title = "routing-error", "The conversation graph has no next step for this turn"


class AnswerMissing(GraphError):
    type, title = "answer-missing", "The conversation graph ended without an answer"


class ModelFailed(GraphError):
    type, title = "model-failed", "The chat model did not answer"


class DeadlinePassed(GraphError):
    type, title = "deadline-passed", "The answer was not complete at its message's deadline"


class BudgetExceeded(GraphError):
    type, title = "budget-exceeded", "There are no tokens left for this"


class ArtifactOpsError(GraphError):
    type, title = "artifact-ops-error", "The requested action on the artifact is not possible"


class QuickActionNotFound(NotFound):
    type, title = "quick-action-not-found", "You have no such quick action in this workspace"


class SharedQuickAction(Forbidden):
    type, title = "shared-quick-action", "Only editors and owners may change the quick actions of a workspace"


class TooManyQuickActions(Conflict):
    type, title = "too-many-quick-actions", "The maximum number of quick actions is reached"


class GraphNotFound(NotFound):
    type, title = "graph-not-found", "There is no such graph"


class AttemptsExhausted(GraphError):
    type = "attempts-exhausted"
    title = "The run was abandoned: every process that worked on it died before it could finish"


class AttemptsFailed(GraphError):
    type = "internal-error"
    title = "The answer could not be written because of an internal error, even after several attempts"


class UnknownSetting(NotFound):
    type, title = (
        "unknown-setting",
        "There is no such setting; GET /v1/settings/schema and `attractor settings schema` list them",
    )


class SettingInvalid(InvalidRequest):
    type, title = "setting-invalid", "The value is not valid for this setting"


class ModelNotListed(InvalidRequest):
    """The detail names the models and their providers."""

    type, title = "model-not-listed", "A provider does not list this model"


class ProviderUnusable(InvalidRequest):
    """The detail says which provider, and why."""

    type, title = "provider-unusable", "A provider cannot be used"


class ProviderInUse(Conflict):
    type, title = "provider-in-use", "A role uses this provider; change the role first"


class TooManyProviders(Conflict):
    type, title = "too-many-providers", "The workspace has reached its limit of providers"


class NoSettingsKey(Problem):
    status, type, title = 503, "no-settings-key", "Secrets cannot be stored: the operator has set no SETTINGS_KEY"


class PresetNotFound(NotFound):
    type, title = "preset-not-found", "There is no such preset"


class TooManyPresets(Conflict):
    type, title = "too-many-presets", "The maximum number of presets is reached"


class ArtifactNotFound(NotFound):
    type, title = "artifact-not-found", "The session has no artifact"


class ArtifactVersionNotFound(NotFound):
    type, title = "artifact-version-not-found", "The artifact has no such version"


class NothingToUndo(Conflict):
    type, title = "nothing-to-undo", "The current version of the artifact is its first"


class NothingToRedo(Conflict):
    type, title = "nothing-to-redo", "No later version was made from the current one"


class SpanLost(Conflict):
    type, title = "span-lost", "The selected text could not be found with certainty; nothing was changed"


class EditsMisplaced(Conflict):
    type, title = "edits-misplaced", "The text to replace does not occur exactly once; nothing was changed"


class ArtifactNotEditable(Conflict):
    type, title = "artifact-not-editable", "The artifact shows a PDF document, whose text cannot be changed here"


class ArtifactTooLong(InvalidRequest):
    type, title = "artifact-too-long", "The artifact would become too long"


class ArtifactIsADocument(Conflict):
    type, title = "artifact-is-a-document", "The artifact shows a document, which is already searchable"


class ArtifactNotIndexed(Conflict):
    type, title = "artifact-not-indexed", "The artifact could not be turned into a document"


class ExportNotPossible(Conflict):
    type, title = "export-not-possible", "The artifact cannot be exported in this format"


class ExportTooLarge(Conflict):
    type, title = "export-too-large", "The artifact is too large to export in this format"


class ExportTooSlow(Conflict):
    type, title = "export-too-slow", "The artifact took too long to write in this format"


class ExportFailed(Conflict):
    type, title = "export-failed", "The artifact could not be written in this format"


class ExportToolMissing(Unavailable):
    type, title = "export-tool-missing", "This deployment cannot write this format"


class ArtifactExportsBusy(Unavailable):
    type, title = "exports-busy", "Too many artifacts are being exported at the same time"


class ImageNotFound(NotFound):
    type, title = "attachment-not-found", "The session has no such image"


class TooManyImages(Conflict):
    type, title = "too-many-attachments", "The session has reached its limit of images"


class NotAnImage(Problem):
    status, type, title = (
        415,
        "not-an-image",
        "Messages can show PNG, JPEG, WebP and GIF; upload other files as documents and attach them to the session",
    )


class ImageTooLarge(Problem):
    status, type, title = 413, "image-too-large", "The image is too large"


class ImageNotRead(Problem):
    status, type, title = 422, "image-not-read", "The image could not be read"


class ImagesBusy(Unavailable):
    type, title = "images-busy", "Many images are being read; try again in a moment"
