"""What can go wrong with a request to this service."""

from __future__ import annotations

from service_kit.problems import Conflict, InvalidRequest, NotFound, Problem


class DocumentNotFound(NotFound):
    type, title = "document-not-found", "There is no such document in this workspace"


class ReceiptNotFound(NotFound):
    type, title = "receipt-not-found", "No such document of this workspace was deleted"


class OriginalNotFound(NotFound):
    type, title = "original-not-found", "The object store no longer has the original of this document"


class NotConverted(NotFound):
    type, title = "not-converted", "No version of this document has been converted yet"


class NothingToRetry(Conflict):
    type, title = "nothing-to-retry", "No stage of this document has failed or was cancelled"


class NothingToCancel(Conflict):
    type, title = "nothing-to-cancel", "No worker has this document before it, or at hand"


class ComesFromSource(Conflict):
    type, title = "comes-from-source", "A source keeps this document: change it there"


class ContentExists(Conflict):
    """`document_id` in the body says which."""

    type, title = "content-exists", "Another document of this workspace has these bytes"


class TooMuchQueued(Problem):
    status, type, title = 429, "too-much-queued", "This workspace has as much waiting for conversion as it may"


class NotAKey(InvalidRequest):
    type, title = "bad-key", "A key may not begin with sha256:"


class BadMultipart(Problem):
    status, type, title = 400, "bad-multipart", "The body is not well-formed multipart/form-data"


class NotMultipart(Problem):
    status, type, title = 415, "unsupported-media-type", "Send the files as multipart/form-data"


class NoFiles(InvalidRequest):
    type, title = "no-files", "The request carries no file; send them in the field `files`"


class TooManyFiles(Problem):
    status, type, title = 413, "too-many-files", "The request carries too many files"


class NothingAccepted(InvalidRequest):
    """`files` in the body says, for each file, why."""

    type, title = "nothing-accepted", "None of the files was accepted"


class StorageFull(Problem):
    status, type, title = 507, "storage-full", "The server has no space left to receive the file"
