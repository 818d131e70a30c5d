"""Problems with uploads."""

from __future__ import annotations

from service_kit.problems import InvalidRequest, Problem


class TooMuchQueued(Problem):
    status, type, title = 429, "too-much-queued", "This workspace's conversion queue is full"


class NotAKey(InvalidRequest):
    type, title = "bad-key", "A key must not begin with sha256:"


class BadMultipart(Problem):
    status, type, title = 400, "bad-multipart", "The body is not well-formed multipart/form-data"


class NotMultipart(Problem):
    status, type, title = 415, "unsupported-media-type", "Send the files as multipart/form-data"


class NoFiles(InvalidRequest):
    type, title = "no-files", "The request has no file; send files in the field `files`"


class TooManyFiles(Problem):
    status, type, title = 413, "too-many-files", "The request has too many files"


class NothingAccepted(InvalidRequest):
    """No file was accepted; `files` in the body says why for each."""

    type, title = "nothing-accepted", "No file was accepted"


class StorageFull(Problem):
    status, type, title = 507, "storage-full", "The server has no space left to receive the file"
