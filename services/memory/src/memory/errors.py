"""The problems that are returned to callers."""

from service_kit.problems import Conflict, InvalidRequest, NotFound


class MemoryNotFound(NotFound):
    type, title = "memory-not-found", "You have no such memory in this workspace"


class TimeZoneUnknown(InvalidRequest):
    type, title = "time-zone-unknown", "There is no time zone with this name"


class WorldOperationInvalid(InvalidRequest):
    type, title = "world-operation-invalid", "The schema of the world does not allow this operation"


class WorldOperationFailed(Conflict):
    type, title = "world-operation-failed", "The operation does not fit the world's current state"


class WorldVersionNotFound(NotFound):
    type, title = "world-version-not-found", "The world has no such version"


class RunNotSettled(Conflict):
    type, title = "run-not-settled", "Memory does not know yet how this run ended"


class WorldSessionNotFound(NotFound):
    type, title = "session-not-found", "You have no such session in this workspace"
