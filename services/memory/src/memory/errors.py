"""The problems that callers are told."""

from service_kit.problems import InvalidRequest, NotFound


class MemoryNotFound(NotFound):
    type, title = "memory-not-found", "You have no such memory in this workspace"


class TimeZoneUnknown(InvalidRequest):
    type, title = "time-zone-unknown", "There is no time zone of this name"
