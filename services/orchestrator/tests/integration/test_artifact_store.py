"""Versions of an artifact: each is read as it was written, even with concurrent writers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.artifacts import ArtifactEvent, ArtifactKind, ArtifactOutcome, ArtifactView
from contracts.gateway import Role
from contracts.orchestrator import MessageCreate
from orchestrator.artifacts.committing import commit_run_version
from orchestrator.artifacts.proposal import ArtifactProposal
from orchestrator.artifacts.repository import ArtifactRepository, Authorship
from orchestrator.errors import ArtifactVersionNotFound, NothingToRedo, NothingToUndo
from orchestrator.sessions.messages import CallerMessages
from orchestrator.sessions.repository import CallerSessions
from service_kit.auth import Principal
from service_kit.postgres import Database
from service_kit.problems import PreconditionFailed

REPORT = "The plan is sound. It costs much.\n\nWe begin in May. We end in June.\n"


def proposed(text: str, base: int | None, event: ArtifactEvent = ArtifactEvent.update, **more: Any) -> ArtifactProposal:
    return ArtifactProposal(event, base, ArtifactKind.markdown, None, "Report", text, **more)


@dataclass
class OneSession:
    """A session, and what its user and its runs do to its artifact."""

    database: Database
    caller: Principal
    id: UUID

    async def write(self, text: str, expected: int | None = None) -> ArtifactView:
        async with self.database.workspace(self.caller.workspace_id) as connection:
            artifacts = ArtifactRepository(connection, self.caller.workspace_id)
            assert await artifacts.use(self.id, self.caller.user_id)
            now = await artifacts.current(self.id)
            proposal = proposed(text, now.current_index if now else None)
            return await artifacts.add(self.id, proposal, Authorship(self.caller.user_id), expected)

    async def run(self) -> UUID:
        async with self.database.workspace(self.caller.workspace_id) as connection:
            body = MessageCreate(content="Write", parent_id=None)
            return (await CallerMessages(connection, self.caller).ask(self.id, body, None, 3)).id

    async def commit(
        self, proposal: ArtifactProposal, run_id: UUID | None = None
    ) -> tuple[int | None, ArtifactOutcome]:
        run_id = run_id or await self.run()
        async with self.database.workspace(self.caller.workspace_id) as connection:
            return await commit_run_version(connection, run_id, uuid4(), proposal)

    async def current(self) -> ArtifactView:
        async with self.database.workspace(self.caller.workspace_id) as connection:
            view = await ArtifactRepository(connection, self.caller.workspace_id).current(self.id)
        assert view is not None
        return view

    async def version(self, index: int) -> ArtifactView:
        artifact = await self.current()
        async with self.database.workspace(self.caller.workspace_id) as connection:
            return await ArtifactRepository(connection, self.caller.workspace_id).version(artifact.id, index)

    async def move(self, way: str) -> ArtifactView:
        view = await self.current()
        async with self.database.workspace(self.caller.workspace_id) as connection:
            artifacts = ArtifactRepository(connection, self.caller.workspace_id)
            return await (artifacts.undo(view) if way == "undo" else artifacts.redo(view))

    async def delete(self) -> tuple[int, int]:
        view = await self.current()
        async with self.database.workspace(self.caller.workspace_id) as connection:
            return await ArtifactRepository(connection, self.caller.workspace_id).delete(view.id)


@pytest.fixture
async def sessions(make_database: Callable[[str], Any]) -> AsyncIterator[Callable[[], Any]]:
    async with Database(make_database("orchestrator").service, 4).opened() as database:

        async def opened() -> OneSession:
            caller = Principal(uuid4(), uuid4(), Role.viewer)
            async with database.workspace(caller.workspace_id) as connection:
                session = await CallerSessions(connection, caller).create(None, None)
            return OneSession(database, caller, session.id)

        yield opened


@pytest.fixture
async def session(sessions: Callable[[], Any]) -> OneSession:
    opened: OneSession = await sessions()
    return opened


async def test_versions_are_kept_and_undo_and_redo_move_through_them(session: OneSession) -> None:
    for text in ("one", "two", "three"):
        await session.write(text)
    assert (await session.move("undo")).text == "two"
    assert (await session.move("undo")).text == "one"
    with pytest.raises(NothingToUndo):
        await session.move("undo")
    assert (await session.move("redo")).text == "two"
    four = await session.write("four")
    assert (four.index, four.parent_index, four.current_index) == (4, 2, 4)
    with pytest.raises(NothingToRedo):
        await session.move("redo")
    assert (await session.move("undo")).text == "two"
    assert (await session.move("redo")).text == "four"
    assert (await session.version(3)).text == "three"
    with pytest.raises(ArtifactVersionNotFound):
        await session.version(5)


async def test_saving_on_top_of_an_older_version_is_refused_and_changes_nothing(session: OneSession) -> None:
    first = await session.write("one")
    second = await session.write("two", first.version)
    assert second.version == first.version + 1
    with pytest.raises(PreconditionFailed) as refused:
        await session.write("three", first.version)
    assert refused.value.extra == {"version": second.version, "current_index": 2}
    assert (await session.current()).text == "two"


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.sampled_from("ab .\r\n🦙$&\\1"), max_size=40), min_size=1, max_size=45))
async def test_every_version_in_any_series_is_restored_exactly(sessions: Callable[[], Any], texts: list[str]) -> None:
    session = await sessions()
    for text in texts:
        await session.write(text)
    for index, text in enumerate(texts, 1):
        assert (await session.version(index)).text == text
    for text in reversed(texts[:-1]):
        assert (await session.move("undo")).text == text


async def test_a_run_writes_one_version_even_if_it_ends_repeatedly(session: OneSession) -> None:
    run_id = await session.run()
    create = proposed(REPORT, None, ArtifactEvent.create)
    assert await session.commit(create, run_id) == (1, ArtifactOutcome.current)
    assert await session.commit(create, run_id) == (1, ArtifactOutcome.current)
    view = await session.current()
    assert (view.text, view.event, view.run_id, view.last_index) == (REPORT, ArtifactEvent.create, run_id, 1)
    assert view.created_by == session.caller.user_id


async def test_manual_changes_elsewhere_are_merged_with_those_of_a_run(session: OneSession) -> None:
    await session.write(REPORT)
    await session.write(REPORT.replace("much", "little"))
    index, outcome = await session.commit(proposed(REPORT.replace("June", "July"), 1))
    assert (index, outcome) == (3, ArtifactOutcome.merged)
    view = await session.current()
    assert view.text == REPORT.replace("much", "little").replace("June", "July")
    assert (view.index, view.parent_index) == (3, 2)


async def test_changes_that_conflict_with_manual_ones_are_set_aside_and_readable(session: OneSession) -> None:
    await session.write(REPORT)
    await session.write(REPORT.replace("June", "August"))
    index, outcome = await session.commit(proposed(REPORT.replace("June", "July"), 1))
    assert (index, outcome) == (3, ArtifactOutcome.kept_aside)
    view = await session.current()
    assert (view.index, view.last_index, view.text) == (2, 3, REPORT.replace("June", "August"))
    aside = await session.version(3)
    assert (aside.text, aside.kept_aside, aside.parent_index) == (REPORT.replace("June", "July"), True, 1)
    assert (await session.move("undo")).index == 1
    assert (await session.move("redo")).index == 2


async def test_a_truncated_version_is_stored_and_not_made_current(session: OneSession) -> None:
    await session.write(REPORT)
    cut = proposed("The pl", 1, ArtifactEvent.rewrite, complete=False)
    assert await session.commit(cut) == (2, ArtifactOutcome.kept_aside)
    assert (await session.current()).text == REPORT


async def test_an_artifact_created_manually_during_the_run_is_kept(session: OneSession) -> None:
    run_id = await session.run()
    await session.write("mine")
    outcome = await session.commit(proposed("the model's", None, ArtifactEvent.create), run_id)
    assert outcome == (2, ArtifactOutcome.kept_aside)
    assert (await session.current()).text == "mine"


async def test_an_artifact_deleted_during_the_run_stays_deleted(session: OneSession) -> None:
    await session.write(REPORT)
    assert await session.delete() == (1, 0)
    assert await session.commit(proposed("more", 1)) == (None, ArtifactOutcome.gone)
