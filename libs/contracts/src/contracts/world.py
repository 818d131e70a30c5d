"""The world state: a durable JSON document of a workspace or a session, changed only by typed operations."""

from __future__ import annotations

import json
import math
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_serializer,
    field_validator,
)

from contracts.base import Request, Resource, plain

SCHEMA_VERSION: Literal[1] = 1
MOST_TEXTS = 200
MOST_OPERATIONS = 100
DEEPEST = 12
LARGEST_BYTES = 256 * 1024


def known_zone(name: str) -> str:
    """Returns the name. Raises ValueError unless the IANA time zone database has it."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError("must be a time zone of the IANA database, such as Europe/Berlin") from None
    return name


def each_once(texts: list[str]) -> list[str]:
    """Returns the texts. Raises ValueError if one of them occurs twice."""
    if len(set(texts)) < len(texts):
        raise ValueError("must have each text once")
    return texts


def canonical(value: JsonValue) -> JsonValue:
    """Returns the value as every store returns it: whole numbers are integers.

    Raises ValueError for numbers that are not finite or too large, for texts and keys that are not `plain`, and for
    values nested deeper than DEEPEST levels.
    """
    whole: JsonValue = _canonical(value, DEEPEST)
    return whole


def _canonical(value: Any, levels: int) -> Any:
    if levels == 0:
        raise ValueError(f"must be nested at most {DEEPEST} levels deep")
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("must be a finite number")
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        raise ValueError("must be a number between -2^63 and 2^63")
    if isinstance(value, list):
        return [_canonical(one, levels - 1) for one in value]
    if isinstance(value, dict):
        return {plain(key): _canonical(one, levels - 1) for key, one in value.items()}
    return value


WorldText = Annotated[str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(plain)]
WorldTexts = Annotated[list[WorldText], Field(max_length=MOST_TEXTS), AfterValidator(each_once)]
TimeZone = Annotated[str, StringConstraints(max_length=64), AfterValidator(known_zone)]
AnyValue = Annotated[JsonValue, AfterValidator(canonical)]
ExtraName = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class WorldPart(Resource):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WorldProject(WorldPart):
    """What the workspace or the session is about."""

    name: WorldText | None = None
    summary: WorldText | None = None
    status: WorldText | None = None


class WorldIdentity(WorldPart):
    """The user and the assistant: names, language and location."""

    user_name: WorldText | None = None
    assistant_name: WorldText | None = None
    language: WorldText | None = None
    location: WorldText | None = None


class WorldDocument(WorldPart):
    """The document of schema version 1. Lists have each text once; `extra` holds what the schema does not define."""

    schema_version: Literal[1] = SCHEMA_VERSION
    project: WorldProject = WorldProject()
    goals: WorldTexts = []
    decisions: WorldTexts = []
    rules: WorldTexts = []
    topics: WorldTexts = []
    open_questions: WorldTexts = []
    identity: WorldIdentity = WorldIdentity()
    timezone: TimeZone = "UTC"
    extra: dict[ExtraName, AnyValue] = {}

    @field_validator("extra")
    @classmethod
    def _fits(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if len(json.dumps(extra, ensure_ascii=False).encode()) > LARGEST_BYTES:
            raise ValueError(f"must take at most {LARGEST_BYTES} bytes")
        return extra


class WorldOperationKind(StrEnum):
    set = "set"  # sets the value at the path
    add = "add"  # appends the text to the list at the path, unless it is there
    remove = "remove"  # removes the text from the list, or the value at the path; a field gets its default back
    merge = "merge"  # merges the object into the one at the path (RFC 7396: null removes)
    test = "test"  # fails unless the value at the path is this


class WorldOperation(Request):
    """One typed change. `path` is a JSON pointer (RFC 6901) within the schema: `/project/name`, `/topics`.

    Below `/extra` any path is allowed. `remove` takes a `value` only for lists, where it names the item; the other
    operations need one.
    """

    op: WorldOperationKind
    path: Annotated[str, StringConstraints(pattern=r"^(/[^/]+)+$", max_length=500)]
    value: AnyValue = None

    @property
    def has_value(self) -> bool:
        return "value" in self.model_fields_set

    @property
    def keys(self) -> list[str]:
        return [part.replace("~1", "/").replace("~0", "~") for part in self.path.split("/")[1:]]


class WorldOperations(Request):
    """Operations that are applied in order, all or none. With `dry_run` nothing is saved."""

    operations: Annotated[list[WorldOperation], Field(min_length=1, max_length=MOST_OPERATIONS)]
    dry_run: bool = False


class StagedOperations(BaseModel):
    """Changes of a run to its session's world, or if not `of_session` the workspace's, applied when it completes."""

    model_config = ConfigDict(frozen=True)

    of_session: bool
    operations: Annotated[list[WorldOperation], Field(min_length=1, max_length=MOST_OPERATIONS)]

    @field_serializer("operations")
    def _as_given(self, operations: list[WorldOperation]) -> list[dict[str, Any]]:
        """Keeps a null value distinct from a missing one."""
        return [one.model_dump(mode="json", exclude_unset=True) for one in operations]


class WorldRevert(Request):
    """The version whose document is to be restored, by operations of its own."""

    version: Annotated[int, Field(ge=1, le=10**9)]


class World(Resource):
    """`version` counts the events; `session_id` is null for the workspace's own."""

    session_id: UUID | None
    version: int
    document: WorldDocument
    created_at: datetime
    updated_at: datetime


class WorldEventKind(StrEnum):
    created = "created"
    operation = "operation"
    reverted = "reverted"  # an operation that a revert made
    repaired = "repaired"
    reflected = "reflected"  # an operation on a session's topics, derived from what was said
    forgotten = "forgotten"  # whatever mentioned a text was removed, also from the earlier events
    conflict = "conflict"  # a run's operation no longer applied when the run ended: nothing was changed


class WorldEvent(Resource):
    """What made a version of the document: one operation, its creation, or a repair.

    `previous` is what the field (below `/extra`: the first key) held before; `existed` is false if it held nothing. A
    repair lists in `repairs` what was malformed, and has those values in `previous`; a conflict lists there what did
    not apply. `run_id` is the run that made the change.
    """

    version: int
    kind: WorldEventKind
    op: WorldOperationKind | None
    path: str | None
    value: JsonValue
    previous: JsonValue
    existed: bool
    repairs: list[str]
    created_by: UUID | None
    run_id: UUID | None
    created_at: datetime


class WorldDifference(Resource):
    """The values at `path` before and after; null if there is none."""

    path: str
    before: JsonValue
    after: JsonValue


class WorldDiff(Resource):
    """What changed from one version to another."""

    from_version: int
    to_version: int
    changes: list[WorldDifference]


class StatusDocument(Resource):
    """A document of the workspace, and when memory first learned of it."""

    id: UUID
    name: str
    at: datetime


class StatusActivity(Resource):
    """A change of the world state, or a new document, described in one line. `user_id` is who did it."""

    at: datetime
    kind: Literal["world", "document"]
    text: str
    user_id: UUID | None


class ProjectStatus(Resource):
    """What holds for the workspace now, compiled from the world state and the documents, newest first.

    `documents` are the newest of `document_count`; those added before memory recorded documents are missing.
    """

    world_version: int
    project: WorldProject
    goals: list[str]
    decisions: list[str]
    open_questions: list[str]
    document_count: int
    documents: list[StatusDocument]
    activity: list[StatusActivity]
