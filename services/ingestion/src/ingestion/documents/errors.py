"""Problems with requests about documents."""

from __future__ import annotations

from ingestion.documents.refusals import QUOTA_EXCEEDED
from service_kit.problems import Conflict, NotFound, Problem


class DocumentNotFound(NotFound):
    type, title = "document-not-found", "This workspace has no such document"


class ReceiptNotFound(NotFound):
    type, title = "receipt-not-found", "No such document was deleted from this workspace"


class OriginalNotFound(NotFound):
    type, title = "original-not-found", "The object store no longer has this document's original"


class RangeNotSatisfiable(Problem):
    status, type, title = 416, "range-not-satisfiable", "The file has no such part"


class NotConverted(NotFound):
    type, title = "not-converted", "No version of this document has been converted yet"


class ChunkNotFound(NotFound):
    type, title = "chunk-not-found", "The document in its current version has no such chunk"


class NothingToRetry(Conflict):
    type, title = "nothing-to-retry", "No stage of this document has failed or was cancelled"


class NothingToCancel(Conflict):
    type, title = "nothing-to-cancel", "The document is neither queued nor being processed"


class ComesFromSource(Conflict):
    type, title = "comes-from-source", "This document comes from a source; change it there"


class ContentExists(Conflict):
    """Another document has these bytes; `document_id` in the body names it."""

    type, title = "content-exists", "Another document of this workspace has the same content"


class QuotaExceeded(Conflict):
    """The quota is used up; for an upload, `files` in the body says why each file was refused."""

    type, title = QUOTA_EXCEEDED, "The workspace's quota is used up"
