"""Forged events are refused: each type of event has its senders, and may name only what is its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from contracts.events import BY_TYPE, EVENTS, Event, EventRefused, event_data
from contracts.object_keys import derived_prefix, original_key
from contracts.registry import CONFIRM_DOCUMENT_DELETION, CONFIRM_WORKSPACE_DELETION, INGESTION

WORKSPACE, DOCUMENT = uuid4(), uuid4()
SERVICES = {"gateway", "ingestion", "retrieval", "knowledge-graph", "memory", "orchestrator", "test", ""}
OWN = derived_prefix(WORKSPACE, DOCUMENT)
FACTS = {"document_id": DOCUMENT, "version": 1, "name": "a.md", "title": None, "tags": [], "source_type": "upload"}
COUNTS = {"removed": {"rows": 1}, "remaining": {"rows": 0}}
DATA: dict[str, dict[str, Any]] = {
    "document.stored.v1": {
        "document_id": DOCUMENT,
        "name": "a.md",
        "object_key": original_key(WORKSPACE, "ab"),
        "bytes": 1,
        "content_hash": "ab",
    },
    "document.converted.v3": {
        **FACTS,
        "media_type": "text/plain",
        "language": None,
        "chunks_key": f"{OWN}v1/chunks.jsonl",
        "chunk_count": 1,
        "vectors_key": f"{OWN}v1/vectors.npy",
        "embedding_model": "minilm",
        "embedding_dims": 384,
    },
    "document.described.v2": FACTS,
    "document.indexed.v2": {"document_id": DOCUMENT, "version": 1, "chunk_count": 1, "vectors": 1},
    "document.graphed.v1": {"document_id": DOCUMENT, "version": 1, "entities": 1, "relations": 1},
    "document.failed.v1": {
        "document_id": DOCUMENT,
        "version": 1,
        "service": "retrieval",
        "stage": "index",
        "error_class": "x",
        "error_message": "y",
    },
    "document.deleted.v1": {"document_id": DOCUMENT},
    "document.purged.v1": {"document_id": DOCUMENT, "service": "retrieval", **COUNTS},
    "embedding_space.activated.v1": {"model": "minilm", "dims": 384},
    "workspace.administered.v1": {},
    "workspace.deleted.v1": {},
    "workspace.purged.v1": {"service": "retrieval", **COUNTS},
    "turn.completed.v2": {
        "session_id": uuid4(),
        "run_id": uuid4(),
        "user_id": uuid4(),
        "question_id": uuid4(),
        "answer_id": uuid4(),
        "asked_at": datetime.now(UTC),
        "question": "q",
        "answer": "a",
        "document_ids": [],
    },
    "turn.completed.v1": {
        "session_id": uuid4(),
        "run_id": uuid4(),
        "user_id": uuid4(),
        "question": "q",
        "answer": "a",
        "document_ids": [],
    },
    "turn.discarded.v1": {"session_id": uuid4(), "run_id": uuid4(), "user_id": uuid4()},
    "session.deleted.v1": {"session_id": uuid4()},
    "sync.changed.v1": {"source_id": uuid4(), "sync_id": uuid4(), "status": "running", "dry_run": False},
    "run.changed.v1": {"run_id": uuid4(), "session_id": uuid4(), "user_id": uuid4(), "status": "running"},
    "artifact.changed.v1": {"session_id": uuid4(), "user_id": uuid4(), "index": 1},
}


def event(kind: str, source: str, workspace_id: UUID = WORKSPACE, **changed: Any) -> Event:
    return Event(
        id=uuid4(),
        source=source,
        type=kind,
        time=datetime.now(UTC),
        subject="x",
        workspace_id=workspace_id,
        data={**DATA[kind], **changed},
    )


def event_from(kind: str, source: str) -> Event:
    """Returns an event from `source`; if the data name a service, they name this one."""
    return event(kind, source, **({"service": source} if "service" in DATA[kind] else {}))


@pytest.mark.parametrize("kind", [one.event_type for one in EVENTS])
def test_an_event_type_is_accepted_only_from_its_own_services(kind):
    allowed = set(BY_TYPE[kind].sources)
    assert allowed
    for source in SERVICES:
        if source in allowed:
            assert event_data(event_from(kind, source)).event_type == kind
        else:
            with pytest.raises(EventRefused, match="does not come from"):
                event_data(event_from(kind, source))


@pytest.mark.parametrize("kind", ["document.failed.v1", "document.purged.v1", "workspace.purged.v1"])
def test_a_service_speaks_only_for_itself(kind):
    with pytest.raises(EventRefused, match="knowledge-graph speaks for retrieval"):
        event_data(event(kind, "knowledge-graph", service="retrieval"))


FOREIGN = {
    "another workspace's": f"{derived_prefix(uuid4(), DOCUMENT)}v1/chunks.jsonl",
    "another document's": f"{derived_prefix(WORKSPACE, uuid4())}v1/chunks.jsonl",
    "an original": original_key(WORKSPACE, "ab"),
    "one that climbs": f"{OWN}../{uuid4()}/v1/chunks.jsonl",
    "one before it": f"x/{OWN}v1/chunks.jsonl",
}


@pytest.mark.parametrize("field", ["chunks_key", "vectors_key"])
@pytest.mark.parametrize("key", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_converted_document_refers_only_to_its_own_object(field, key):
    with pytest.raises(EventRefused, match="is not an object of this document"):
        event_data(event("document.converted.v3", INGESTION, **{field: key}))


def test_the_workspace_in_the_envelope_is_authoritative():
    for kind in ("document.converted.v3", "document.stored.v1"):
        with pytest.raises(EventRefused, match="is not"):
            event_data(event(kind, INGESTION, workspace_id=uuid4()))


def test_unknown_types_and_malformed_payloads_are_refused():
    with pytest.raises(EventRefused, match=r"not the data of document\.deleted\.v1: document_id: Field required"):
        event_data(event("document.deleted.v1", INGESTION).model_copy(update={"data": {}}))
    with pytest.raises(EventRefused, match="is not known"):
        event_data(event("workspace.deleted.v1", "gateway").model_copy(update={"type": "workspace.deleted.v9"}))


def test_every_service_in_the_registry_may_confirm_a_deletion():
    assert set(BY_TYPE["document.purged.v1"].sources) == set(CONFIRM_DOCUMENT_DELETION) - {INGESTION}
    assert set(BY_TYPE["workspace.purged.v1"].sources) == set(CONFIRM_WORKSPACE_DELETION)
