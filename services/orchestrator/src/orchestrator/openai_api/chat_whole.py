"""Converts a run's events into a chat completion that is not streamed. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from contracts.openai_api import ChatAnswer, ChatChoice, ChatCompletion
from contracts.orchestrator import Citation
from contracts.run_events import (
    CitationChecked,
    MessageCompleted,
    MessageRestarted,
    ModelCalled,
    RunCancelled,
    RunCompleted,
    RunFailed,
    ThinkingDelta,
)
from orchestrator.openai_api.chat_chunks import READ, Completing
from orchestrator.openai_api.chat_usage import counted
from orchestrator.openai_api.errors import AnswerFailed, failure_of
from orchestrator.openai_api.footnotes import annotated, footnotes
from orchestrator.runs.streams import Entry


@dataclass
class WholeAnswer:
    """`over`: the run has ended."""

    answering: Completing
    over: bool = False
    thinking: list[str] = field(default_factory=list)
    calls: list[ModelCalled] = field(default_factory=list)
    citations: dict[int, Citation] = field(default_factory=dict)
    final: MessageCompleted | None = None

    def of(self, entry: Entry) -> ChatCompletion | None:
        """Returns the completion for the last event, otherwise None. Raises AnswerFailed."""
        _, name, data = entry
        event = READ[name].model_validate_json(data) if name in READ else None
        match event:
            case ThinkingDelta():
                self.thinking.append(event.text)
            case MessageRestarted():
                self.final = None
                self.citations.clear()
            case CitationChecked():
                self.citations[event.citation.number] = event.citation
            case ModelCalled():
                self.calls.append(event)
            case MessageCompleted():
                self.final = event
            case RunCompleted():
                return self._ended(event.content, event.citations)
            case RunFailed():
                failure = failure_of(event.error_type)
                return self._early(failure(event.error_type, event.message, self.answering.run_id))
            case RunCancelled():
                return self._early(AnswerFailed("run-cancelled", "the run was cancelled", self.answering.run_id))
        return None

    def _early(self, failure: AnswerFailed) -> ChatCompletion:
        self.over = True
        if self.final is None:
            raise failure
        return self._ended(self.final.content, list(self.citations.values()))

    def _ended(self, text: str, citations: list[Citation]) -> ChatCompletion:
        self.over, answering = True, self.answering
        answer = ChatAnswer(
            content=text + (footnotes(citations) if answering.footnotes else ""),
            reasoning_content="".join(self.thinking) or None,
            annotations=annotated(text, citations, answering.base_url),
            citations=citations,
        )
        is_cut = self.final is not None and self.final.incomplete
        return ChatCompletion(
            id=answering.id,
            created=answering.created,
            model=answering.model,
            choices=[ChatChoice(message=answer, finish_reason="length" if is_cut else "stop")],
            usage=counted(self.calls),
            run_id=answering.run_id,
        )
