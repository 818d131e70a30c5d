"""Converts a run's events into the chunks of a streamed chat completion. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from contracts.orchestrator import Citation
from contracts.run_events import (
    CitationChecked,
    MessageCompleted,
    MessageDelta,
    MessageRestarted,
    ModelCalled,
    RunCancelled,
    RunCompleted,
    RunEventData,
    RunFailed,
    StageStarted,
    ThinkingDelta,
)
from orchestrator.openai_api.chat_usage import counted
from orchestrator.openai_api.errors import failure_of
from orchestrator.openai_api.footnotes import annotated, footnotes
from orchestrator.runs.streams import Entry
from service_kit.openai_errors import error_of
from service_kit.server_sent import HEARTBEAT

DONE = b"data: [DONE]\n\n"
READ: dict[str, type[RunEventData]] = {
    event.name: event
    for event in (
        StageStarted,
        ThinkingDelta,
        MessageDelta,
        MessageRestarted,
        CitationChecked,
        MessageCompleted,
        ModelCalled,
        RunCompleted,
        RunFailed,
        RunCancelled,
    )
}
RESTARTED = "The answer started again in another process; read the whole answer with its run"


@dataclass(frozen=True)
class Completing:
    """The fields that every chunk repeats, and the client's options."""

    run_id: str
    created: int
    model: str
    base_url: str
    footnotes: bool
    usage: bool = False

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.run_id.replace('-', '')}"


@dataclass
class ChatChunks:
    """`over`: the last chunk has been produced. `failed`: it was an error, so that the run is kept for inspection."""

    answering: Completing
    over: bool = False
    failed: bool = False
    text: list[str] = field(default_factory=list)
    calls: list[ModelCalled] = field(default_factory=list)
    citations: dict[int, Citation] = field(default_factory=dict)

    def opening(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def of(self, entry: Entry | None) -> bytes:
        """Returns the bytes to send for an event, possibly none."""
        if entry is None:
            return HEARTBEAT
        _, name, data = entry
        event = READ[name].model_validate_json(data) if name in READ else None
        match event:
            case StageStarted():
                return b"" if self.text else f": {event.label}\n\n".encode()
            case ThinkingDelta():
                return self._chunk({"reasoning_content": event.text})
            case MessageDelta():
                return self._say(event.text)
            case MessageRestarted():
                return self._restarted()
            case CitationChecked():
                self.citations[event.citation.number] = event.citation
            case ModelCalled():
                self.calls.append(event)
            case _:
                return self._last(event)
        return b""

    def _last(self, event: RunEventData | None) -> bytes:
        """Returns the end of the stream, empty for all other events."""
        match event:
            case MessageCompleted():
                return self._finish(event.content, "length" if event.incomplete else "stop")
            case RunCompleted():
                return self._finish(event.content, "stop")
            case RunFailed():
                return self._error(event.error_type, event.message)
            case RunCancelled():
                return self._error("run-cancelled", "The run was cancelled")
        return b""

    def _say(self, text: str) -> bytes:
        self.text.append(text)
        return self._chunk({"content": text})

    def _restarted(self) -> bytes:
        """Returns an error if text was sent, which cannot be retracted here."""
        self.citations.clear()
        return self._error("answer-restarted", RESTARTED) if self.text else b""

    def _finish(self, content: str, reason: str) -> bytes:
        made = [] if self.text or not content else [self._say(content)]
        whole_text = "".join(self.text)
        cited = list(self.citations.values())
        if self.answering.footnotes and cited:
            made.append(self._chunk({"content": footnotes(cited)}))
        if cited:
            marks = annotated(whole_text, cited, self.answering.base_url)
            made.append(
                self._chunk(
                    {
                        "annotations": [one.model_dump(mode="json") for one in marks],
                        "citations": [one.model_dump(mode="json") for one in cited],
                    }
                )
            )
        made.append(self._chunk({}, reason))
        if self.answering.usage:
            made.append(_data({**self._head(), "choices": [], "usage": counted(self.calls).model_dump()}))
        self.over = True
        return b"".join([*made, DONE])

    def _error(self, slug: str, message: str) -> bytes:
        self.over = self.failed = True
        status = failure_of(slug).status
        return _data(error_of(status, slug, message, None, run_id=self.answering.run_id).model_dump(mode="json"))

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        more = {"usage": None} if self.answering.usage else {}
        return _data({**self._head(), "choices": [choice], **more})

    def _head(self) -> dict[str, Any]:
        shared = self.answering
        return {
            "id": shared.id,
            "object": "chat.completion.chunk",
            "created": shared.created,
            "model": shared.model,
            "run_id": shared.run_id,
        }


def _data(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
