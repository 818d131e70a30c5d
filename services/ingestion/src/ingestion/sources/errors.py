"""Problems with requests about sources."""

from __future__ import annotations

from service_kit.problems import Conflict, NotFound


class SourceNotFound(NotFound):
    type, title = "source-not-found", "There is no such source in this workspace"


class SyncNotFound(NotFound):
    type, title = "sync-not-found", "There is no such synchronisation of this source"


class SourceReceiptNotFound(NotFound):
    type, title = "receipt-not-found", "No such source of this workspace was deleted with its documents"


class SyncEnded(Conflict):
    type, title = "sync-ended", "This synchronisation has ended"
