from __future__ import annotations

from uuid import uuid4

import pytest

from contracts.events import DOCUMENTS, DocumentDeleted, Event, WorkspaceDeleted
from service_kit.admission import Admission, AdmissionVerdict
from service_kit.outbox import new_event
from service_kit.problems import ServiceSilent
from service_kit.streams import Consumer
from service_kit.telemetry import Metrics

WORKSPACE = uuid4()


def deleted(workspace_id=WORKSPACE, source="ingestion") -> Event:
    document_id = uuid4()
    return new_event(source, workspace_id, DocumentDeleted(document_id=document_id), str(document_id))


async def confirmed(events) -> list[bool]:
    return [True for _ in events]


async def verdicts(admission: Admission, *events: Event) -> list[AdmissionVerdict]:
    return [decision.verdict for decision in await admission.decide(events)]


async def test_a_deletion_denied_by_its_owner_is_refused():
    true, forged = deleted(), deleted()

    async def owner(events):
        return [event is true for event in events]

    assert await verdicts(Admission({"ingestion": owner}), forged, true) == [
        AdmissionVerdict.refused,
        AdmissionVerdict.admitted,
    ]


async def test_events_wait_while_their_owner_does_not_answer():
    async def silent(_):
        raise ServiceSilent("ingestion cannot be reached")

    event, other = deleted(), new_event("gateway", WORKSPACE, WorkspaceDeleted(), "x")
    [waits, goes_on] = await Admission({"ingestion": silent, "gateway": confirmed}).decide([event, other])
    assert (waits.verdict, waits.reason) == (AdmissionVerdict.waiting, "ingestion cannot be reached")
    assert goes_on.verdict is AdmissionVerdict.admitted


async def test_an_owner_is_queried_once_per_workspace_and_never_for_refused_events():
    queried = []

    async def owner(events):
        queried.append([event.workspace_id for event in events])
        return [True for _ in events]

    other = uuid4()
    events = [deleted(), deleted(other), deleted(), deleted(source="memory")]
    assert await verdicts(Admission({"ingestion": owner}), *events) == 3 * [AdmissionVerdict.admitted] + [
        AdmissionVerdict.refused
    ]
    assert queried == [[WORKSPACE, WORKSPACE], [other]]


async def test_a_forged_event_cannot_profit_from_the_id_of_a_genuine_one():
    true = deleted()
    forged = deleted(source="memory").model_copy(update={"id": true.id})
    assert await verdicts(Admission({"ingestion": confirmed}), forged, true) == [
        AdmissionVerdict.refused,
        AdmissionVerdict.admitted,
    ]


async def test_a_deletion_without_a_known_owner_is_not_handled():
    with pytest.raises(ValueError, match="gateway is not among the owners"):
        Consumer(None, DOCUMENTS, "memory", {WorkspaceDeleted.event_type: confirmed}, Metrics(), None)


async def test_an_error_response_from_an_owner_is_reported():
    async def broken(_):
        raise TypeError("a bug")

    with pytest.raises(TypeError):
        await Admission({"ingestion": broken}).decide([deleted()])
