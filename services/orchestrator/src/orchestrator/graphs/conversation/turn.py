"""One turn: from a claimed run to its answer, from the last checkpoint on where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID, uuid4

from langchain_core.runnables import RunnableConfig

from contracts.events import MessageRestarted
from contracts.orchestrator import AnswerMode, Citation
from inference.chat import ChatModel
from orchestrator.graphs.conversation.context import ConversationContext, Prompts, TurnBudgets
from orchestrator.graphs.conversation.graph import ConversationGraph
from orchestrator.graphs.conversation.state import State, Turn, answer_of
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import ClaimedRun, RunProgress, TurnAnswer, TurnInput
from orchestrator.services import MemoryService, RetrievalService


@dataclass(frozen=True)
class ConversationTurns:
    """Answers turns with the conversation graph."""

    graph: ConversationGraph
    retrieval: RetrievalService
    memory: MemoryService
    chat: ChatModel | None
    prompts: Prompts
    limits: TurnBudgets

    @property
    def mode(self) -> AnswerMode:
        """Returns how answers are written as long as the chat model works."""
        return AnswerMode.extractive if self.chat is None else AnswerMode.model

    async def answer(self, run: ClaimedRun, turn: TurnInput, events: RunEvents, progress: RunProgress) -> TurnAnswer:
        """Keeps `progress` up to date. Cancelling it stops it, also within a model's stream.

        The graph's thread is the run's id.
        """
        config = RunnableConfig(configurable={"thread_id": str(run.id)})
        context = ConversationContext(
            run.principal, events, self.retrieval, self.memory, self.chat, self.prompts, self.limits
        )
        state = await self._checkpointed(run, config)
        if run.attempts > 1 and (state is None or not answer_of(state)) and await events.streamed_before():
            events.emit(MessageRestarted())
        start = None if state else self._initial(turn)
        async for value in self.graph.astream(start, config, context=context, stream_mode="values", durability="async"):
            state = cast(State, value)
            progress.node_trace, progress.issues = list(state["node_trace"]), list(state["issues"])
        assert state is not None
        return _answer(state)

    async def _checkpointed(self, run: ClaimedRun, config: RunnableConfig) -> State | None:
        """Returns the state that an earlier attempt left; a first attempt need not look."""
        if run.attempts == 1:
            return None
        snapshot = await self.graph.aget_state(config)
        return cast(State, snapshot.values) if snapshot.values else None

    def _initial(self, turn: TurnInput) -> State:
        asked, *before = turn.messages
        return State(
            messages=[
                Turn(id=str(one.id), role="assistant" if one.role == "assistant" else "user", content=one.content)
                for one in reversed(turn.messages)
            ],
            question=asked.content,
            answer_id=str(uuid4()),
            mode="extractive" if self.chat is None else "model",
            needs_title=asked.untitled and not any(one.role == "assistant" for one in before),
            title=None,
            next=None,
            document_ids=None if turn.document_ids is None else [str(one) for one in turn.document_ids],
            search=None,
            passages=[],
            memories=[],
            cited=[],
            citations=[],
            removed_citations=0,
            node_trace=[],
            issues=[],
        )


def _answer(state: State) -> TurnAnswer:
    return TurnAnswer(
        message_id=UUID(state["answer_id"]),
        mode=AnswerMode(state["mode"]),
        question=state["question"],
        content=answer_of(state),
        citations=[Citation.model_validate(citation) for citation in state["citations"]],
        removed_citations=state["removed_citations"],
        title=state["title"],
    )
