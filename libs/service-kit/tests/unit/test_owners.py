"""Confirmation by the owner before data is erased, and what counts as an answer: forged events."""

from __future__ import annotations

from uuid import uuid4

import pytest
from deployment_keys import DeploymentKeys

from contracts.events import DocumentDeleted, Event, SessionDeleted, WorkspaceDeleted
from service_kit.outbox import new_event
from service_kit.owners import DOCUMENTS_PATH, SESSIONS_PATH, WORKSPACE_PATH, deletion_owners
from service_kit.problems import ServiceSilent

WORKSPACE = uuid4()


def deleted() -> Event:
    return new_event("ingestion", WORKSPACE, DocumentDeleted(document_id=uuid4()), "x")


@pytest.fixture
async def queried_owners(owners):
    tokens = DeploymentKeys().tokens("memory")
    async with deletion_owners("memory", tokens, owners.url, owners.url, owners.url) as found:
        yield found


@pytest.mark.parametrize("confirms", [True, False])
async def test_each_service_answers_for_the_data_it_owns(owners, queried_owners, confirms):
    owners.confirms = confirms
    workspace = new_event("gateway", WORKSPACE, WorkspaceDeleted(), str(WORKSPACE))
    assert await queried_owners["gateway"]([workspace]) == [confirms]
    assert await queried_owners["ingestion"]([deleted(), deleted()]) == [confirms, confirms]
    session = new_event("orchestrator", WORKSPACE, SessionDeleted(session_id=uuid4()), "x")
    assert await queried_owners["orchestrator"]([session, session]) == [confirms, confirms]
    assert owners.asked == [WORKSPACE_PATH, DOCUMENTS_PATH, SESSIONS_PATH]


async def test_an_owner_that_fails_or_refuses_counts_as_not_answering(owners, queried_owners):
    owners.is_away = True
    with pytest.raises(ServiceSilent, match="gateway answered with status 503"):
        await queried_owners["gateway"]([new_event("gateway", WORKSPACE, WorkspaceDeleted(), "x")])
    with pytest.raises(ServiceSilent, match="ingestion answered with status 503"):
        await queried_owners["ingestion"]([deleted()])


async def test_a_service_that_stores_no_documents_is_not_queried_about_them(owners):
    async with deletion_owners("memory", DeploymentKeys().tokens("memory"), owners.url) as found:
        assert set(found) == {"gateway"}
