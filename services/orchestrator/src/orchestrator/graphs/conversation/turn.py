"""One turn: from a claimed run to its answer, resuming from the last checkpoint if there is one."""

from __future__ import annotations

import asyncio
import functools
import logging
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import RunControl
from prometheus_client import Counter

from contracts.artifacts import ArtifactEvent, ArtifactKind
from contracts.orchestrator import AnswerMode, Citation, SentenceCheck
from contracts.reflections import Reflection
from contracts.run_events import MessageRestarted, RunStarted
from contracts.world import StagedOperations
from inference.entailment import EntailmentModel
from orchestrator.artifacts.proposal import ArtifactProposal
from orchestrator.checkpoints import Checkpoints
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.wording import WordLikeness
from orchestrator.errors import AnswerMissing
from orchestrator.graphs.artifact_ops.prompting import ArtifactPrompts
from orchestrator.graphs.conversation.context import (
    ConversationContext,
    Prompts,
    Routing,
    TurnBudgets,
    TurnClock,
    WrittenSoFar,
)
from orchestrator.graphs.conversation.graph import ConversationGraph
from orchestrator.graphs.conversation.multilingual import MultilingualEncoder
from orchestrator.graphs.conversation.passages import Verified, of_cut, unverified, verified
from orchestrator.graphs.conversation.state import ArtifactInTurn, Proposed, Role, State, Turn, answer_of
from orchestrator.graphs.conversation.world_telling import NOT_COMMITTED
from orchestrator.graphs.digest import digest
from orchestrator.images.keeping import ImageKeeping
from orchestrator.models.model_source import ModelSource
from orchestrator.models.run_models import RunModels
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import (
    ClaimedRun,
    Condensed,
    EarlierMessage,
    FoundArtifact,
    RunProgress,
    TurnAnswer,
    TurnInput,
)
from orchestrator.services import GraphService, IngestionService, MemoryService, RetrievalService

UTC = "UTC"
log = logging.getLogger(__name__)
# A key of checkpoint metadata: LangGraph mistakes a checkpoint whose next node no longer exists for a finished one.
DIGEST = "graph_digest"
OUTDATED = "the run started over: its progress was saved by another version of the conversation graph"


@dataclass(frozen=True)
class ConversationTurns:
    """Answers turns with the conversation graph. Once `control` is drained, no further node begins.

    `sentences` counts the sentences of answers by status, `alike` measures the similarity of two words.
    """

    graph: ConversationGraph
    checkpoints: Checkpoints
    retrieval: RetrievalService
    graph_tools: GraphService
    memory: MemoryService
    models: ModelSource
    prompts: Prompts
    limits: TurnBudgets
    control: RunControl
    sentences: Counter
    alike: WordLikeness
    artifact_prompts: ArtifactPrompts
    routing: Routing = "auto"
    entailment: EntailmentModel | None = None
    documents: IngestionService | None = None
    images: ImageKeeping | None = None
    encoder: MultilingualEncoder | None = None

    @cached_property
    def digest(self) -> str:
        """Returns the digest that a checkpoint must have to be resumed."""
        return digest(self.graph)

    async def answer(self, run: ClaimedRun, turn: TurnInput, events: RunEvents, progress: RunProgress) -> TurnAnswer:
        """Answers the turn and keeps `progress` up to date. Cancelling stops it, even within a model's stream.

        The graph's thread is the run's id. Raises GraphError, GraphDrained.
        """
        async with self.models.for_run(run, turn.settings, events.emit) as models:
            events.emit(RunStarted(run_id=run.id, attempt=run.attempts, mode=models.mode))
            return await self._answer(run, turn, events, progress, models)

    async def _answer(
        self, run: ClaimedRun, turn: TurnInput, events: RunEvents, progress: RunProgress, models: RunModels
    ) -> TurnAnswer:
        graph = self.graph.copy({"checkpointer": self.checkpoints.saver(run.workspace_id, is_new=run.attempts == 1)})
        config = RunnableConfig(configurable={"thread_id": str(run.id)}, metadata={DIGEST: self.digest})
        issues = [*models.issues]
        if run.attempts > 1 and await self._discarded(run, config):
            issues.append(OUTDATED)
        context = ConversationContext(
            run.principal,
            events,
            self.retrieval,
            self.graph_tools,
            self.memory,
            models,
            self.prompts,
            self.limits.with_passages(models.settings.passages),
            self.alike,
            TurnClock.at(run.id, turn.asked_at, run.options.get("timezone", UTC)),
            self.artifact_prompts,
            _artifact(turn.artifact),
            self.routing,
            self.entailment,
            self.encoder,
            options=models.options(run.options),
            remembers=not turn.messages[0].temporary,
            edited_by_hand=[] if turn.artifact is None else turn.artifact.edited_by_hand,
            documents=self.documents,
            session_id=run.session_id,
            image=None if self.images is None else functools.partial(self.images.find, run.principal, run.session_id),
            image_hash=None
            if self.images is None
            else functools.partial(self.images.content_hash, run.principal, run.session_id),
        )
        state = await _checkpointed(graph, run, config)

        async def partial() -> TurnAnswer | None:
            return await self._partial(turn, state, context.draft)

        progress.partial = partial
        if run.attempts > 1 and (state is None or not answer_of(state)) and await events.streamed_before():
            events.emit(MessageRestarted())
        start = None if state else self._initial(turn, issues, models.mode, condensing=not run.options.get("ephemeral"))
        values = graph.astream(
            start, config, context=context, stream_mode="values", durability="sync", control=self.control
        )
        async for value in values:
            state = cast(State, value)
            _note(progress, state)
        if state is None or all(turn["id"] != state["answer_id"] for turn in state["internal_messages"]):
            raise AnswerMissing
        answer = _answer(turn.answer_id, state)
        for sentence in answer.sentences:
            self.sentences.labels(sentence.status.value).inc()
        return answer

    async def saved(self, run: ClaimedRun, turn: TurnInput) -> TurnAnswer | None:
        """Returns what earlier attempts have of the answer, if this graph can read their checkpoint."""
        config = RunnableConfig(configurable={"thread_id": str(run.id)}, metadata={DIGEST: self.digest})
        if await self._discarded(run, config):
            return None
        graph = self.graph.copy({"checkpointer": self.checkpoints.saver(run.workspace_id)})
        return await self._partial(turn, await _checkpointed(graph, run, config), WrittenSoFar())

    async def _discarded(self, run: ClaimedRun, config: RunnableConfig) -> bool:
        """Deletes an earlier attempt's checkpoints if this graph cannot resume from them; returns whether it did."""
        saver = self.checkpoints.saver(run.workspace_id)
        saved = await saver.aget_tuple(config)
        if saved is None or saved.metadata.get(DIGEST) == self.digest:
            return False
        await saver.adelete_thread(str(run.id))
        return True

    async def _partial(self, turn: TurnInput, state: State | None, draft: WrittenSoFar) -> TurnAnswer | None:
        """Returns the partial answer, checked; None if nothing of it was shown.

        It has the artifact's version once the answer mentions it: a version still being written is not kept.
        """
        told = state is not None and bool(answer_of(state)) and state["proposal"] is not None
        if state and (told or state.get("citations") or state.get("sentences")):
            answer = _answer(turn.answer_id, state)
            return answer if answer.staged is None else replace(answer, content=f"{answer.content}\n\n{NOT_COMMITTED}")
        cut = True
        if state and answer_of(state):
            cited = [CitedSpan(**one) for one in state["cited"]]
            draft, cut = WrittenSoFar(state["mode"], [answer_of(state)], cited, state["passages"]), False
        checked = await self._checked(draft)
        if state and state["staged"] is not None and checked.content.strip():
            checked = replace(checked, content=f"{checked.content}\n\n{NOT_COMMITTED}")
        if not checked.content.strip():
            return None
        if cut:
            checked = of_cut(checked)
        return TurnAnswer(
            message_id=turn.answer_id,
            mode=AnswerMode(draft.mode),
            question=turn.messages[0].content,
            content=checked.content,
            citations=checked.citations,
            sentences=checked.sentences,
            removed_citations=checked.removed,
            title=None,
        )

    async def _checked(self, draft: WrittenSoFar) -> Verified:
        """Checks the draft; the run ends even if that fails."""
        text, extractive = "".join(draft.shown), draft.mode == "extractive"
        try:
            return await asyncio.to_thread(
                verified, text, draft.cited, draft.passages, self.alike, extractive=extractive
            )
        except Exception:  # the boundary of an ending run: the text is kept, unchecked
            log.exception("answer not checked")
            return unverified(text)

    def _initial(self, turn: TurnInput, issues: list[str], mode: AnswerMode, *, condensing: bool) -> State:
        question_message, *before = turn.messages
        return State(
            internal_messages=[_turn(one) for one in reversed(turn.messages)],
            question=question_message.content,
            answer_id=str(turn.answer_id),
            mode=mode.value,
            fallback=False,
            incomplete=False,
            needs_title=question_message.untitled and all(one.role == "user" for one in before),
            title=None,
            summary_tokens=self.limits.summary_tokens if mode is AnswerMode.model and condensing else None,
            condensed=None,
            reflections=[],
            next=None,
            artifact=None,
            artifact_action=None,
            artifact_action_params=None,
            artifact_action_recovery_message=None,
            proposal=None,
            world_told=None,
            staged=None,
            document_ids=None if turn.document_ids is None else [str(one) for one in turn.document_ids],
            rag_enabled=False,
            rag_scope=None,
            rag_query=None,
            rag_citations=[],
            conversation_mode="normal",
            active_pdf_document_id=None,
            read_elsewhere=False,
            search=None,
            passages=[],
            memories=[],
            recalled_ids=[],
            remembered=None,
            structure=None,
            cited=[],
            citations=[],
            removed_citations=0,
            sentences=[],
            node_trace=[],
            issues=issues,
            steps_executed=[],
            timings={},
            considered=None,
            rag_route_debug={},
            rag_retrieval_debug={},
            error=None,
        )


def _turn(message: EarlierMessage) -> Turn:
    turn = Turn(id=str(message.id), role=cast(Role, message.role), content=message.content)
    if message.attachment_ids and message.role == "user":
        turn["images"] = [str(one) for one in message.attachment_ids]
    return turn


def _note(progress: RunProgress, state: State) -> None:
    progress.node_trace, progress.issues = list(state["node_trace"]), list(state["issues"])
    progress.steps_executed, progress.timings = list(state["steps_executed"]), dict(state["timings"])
    progress.considered = state.get("considered")  # an earlier version's checkpoint has none
    progress.debug = {name: state[name] for name in ("rag_route_debug", "rag_retrieval_debug") if state[name]}


async def _checkpointed(graph: ConversationGraph, run: ClaimedRun, config: RunnableConfig) -> State | None:
    """Returns the state that an earlier attempt left; None without a lookup for a first attempt."""
    if run.attempts == 1:
        return None
    snapshot = await graph.aget_state(config)
    return cast(State, snapshot.values) if snapshot.values else None


def _answer(answer_id: UUID, state: State) -> TurnAnswer:
    condensed = state["condensed"]
    return TurnAnswer(
        message_id=answer_id,
        mode=AnswerMode(state["mode"]),
        question=state["question"],
        content=answer_of(state),
        citations=[Citation.model_validate(citation) for citation in state["citations"]],
        removed_citations=state["removed_citations"],
        sentences=[SentenceCheck.model_validate(sentence) for sentence in state["sentences"]],
        title=state["title"],
        condensed=Condensed(UUID(condensed["id"]), condensed["content"]) if condensed else None,
        fallback=state["fallback"],
        incomplete=state["incomplete"],
        read_elsewhere=state["read_elsewhere"],
        recalled_ids=[UUID(one) for one in state["recalled_ids"]],
        reflections=[Reflection.model_validate(one) for one in state["reflections"]],
        proposal=_proposal(state["proposal"]),
        staged=None if state["staged"] is None else StagedOperations.model_validate(state["staged"]),
    )


def _artifact(found: FoundArtifact | None) -> ArtifactInTurn | None:
    """Returns the artifact as the graph sees it."""
    if found is None:
        return None
    view = found.view
    return ArtifactInTurn(
        index=view.index,
        kind=view.kind.value,
        language=view.language,
        title=view.title,
        text=view.text,
        citations=[one.model_dump(mode="json") for one in view.citations],
        seen=found.seen,
    )


def _proposal(proposed: Proposed | None) -> ArtifactProposal | None:
    """Returns the proposal that the end of the run commits."""
    if proposed is None:
        return None
    return ArtifactProposal(
        event=ArtifactEvent(proposed["event"]),
        base_index=proposed["base_index"],
        kind=ArtifactKind(proposed["kind"]),
        language=proposed["language"],
        title=proposed["title"],
        text=proposed["text"],
        citations=[Citation.model_validate(one) for one in proposed["citations"]],
        complete=not proposed["cut_short"],
    )
