"""What can go wrong with a request to this service."""

from __future__ import annotations

from service_kit.problems import Conflict, InvalidRequest, NotFound, Problem


class DocumentNotFound(NotFound):
    type, title = "document-not-found", "There is no such document in this workspace"


class ReceiptNotFound(NotFound):
    type, title = "receipt-not-found", "No such document of this workspace was deleted"


class OriginalNotFound(NotFound):
    type, title = "original-not-found", "The object store no longer has the original of this document"


class NothingToRetry(Conflict):
    type, title = "nothing-to-retry", "No stage of this document has failed"


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
