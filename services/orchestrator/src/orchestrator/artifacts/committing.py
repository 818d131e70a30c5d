"""Commits a run's proposal in the transaction that ends the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from contracts.artifacts import ArtifactKind, ArtifactOutcome, ArtifactView
from orchestrator.artifacts.proposal import ArtifactProposal
from orchestrator.artifacts.repository import ArtifactRepository, ArtifactSql, Authorship
from orchestrator.artifacts.texts import merge
from service_kit.postgres import Connection
from service_kit.repository import SystemRepository


@dataclass(frozen=True)
class RunAuthor:
    """The user and the session of a run."""

    workspace_id: UUID
    session_id: UUID
    created_by: UUID


@dataclass(frozen=True)
class MadeVersion:
    """The version that a run made."""

    index: int
    outcome: str


async def commit_run_version(
    connection: Connection, run_id: UUID, message_id: UUID, proposal: ArtifactProposal
) -> tuple[int | None, ArtifactOutcome]:
    """Stores a run's proposal as one version; returns its index and the outcome.

    A second call for the same run changes nothing, and returns the same.

    If people changed the artifact since `base_index`, disjoint changes are merged; otherwise the version is set
    aside. An artifact that was deleted meanwhile stays deleted.
    """
    run = await SystemRepository(connection).one(ArtifactSql.run, RunAuthor, run_id=run_id)
    if run is None:
        return None, ArtifactOutcome.gone
    artifacts = ArtifactRepository(connection, run.workspace_id)
    if not await artifacts.use(run.session_id):
        return None, ArtifactOutcome.gone
    before = await artifacts.one(ArtifactSql.of_run, MadeVersion, run_id=run_id)
    if before is not None:
        return before.index, ArtifactOutcome(before.outcome)
    now = await artifacts.current(run.session_id)
    if now is None and proposal.base_index is not None:
        return None, ArtifactOutcome.gone
    outcome, placed = await _placed(artifacts, now, proposal)
    author = Authorship(run.created_by, run_id, message_id)
    view = await artifacts.add(run.session_id, placed, author, outcome=outcome)
    return view.index, outcome


async def _placed(
    artifacts: ArtifactRepository, now: ArtifactView | None, proposal: ArtifactProposal
) -> tuple[ArtifactOutcome, ArtifactProposal]:
    """Returns whether the proposal becomes current, and the text to store."""
    if not proposal.complete:
        return ArtifactOutcome.kept_aside, proposal
    if now is not None and now.kind is ArtifactKind.pdf:
        return ArtifactOutcome.kept_aside, proposal
    if now is None or now.current_index == proposal.base_index:
        return ArtifactOutcome.current, proposal
    if proposal.base_index is None:
        return ArtifactOutcome.kept_aside, proposal
    base = await artifacts.version(now.id, proposal.base_index)
    merged = None if _differ_in_form(base, now, proposal) else merge(base.text, now.text, proposal.text)
    if merged is None:
        return ArtifactOutcome.kept_aside, proposal
    title = now.title if proposal.title == base.title else proposal.title
    citations = proposal.citations if proposal.citations != base.citations else now.citations
    placed = replace(proposal, base_index=now.current_index, title=title, text=merged, citations=citations)
    return ArtifactOutcome.merged, placed


def _differ_in_form(base: ArtifactView, now: ArtifactView, proposal: ArtifactProposal) -> bool:
    """Returns whether both changed something that cannot be merged: the kind, or the sources that markers number."""
    kinds = {(version.kind, version.language) for version in (base, now, proposal)}
    known = {citation.model_dump_json() for citation in base.citations}
    new = [any(one.model_dump_json() not in known for one in version.citations) for version in (now, proposal)]
    return len(kinds) > 1 or all(new)
