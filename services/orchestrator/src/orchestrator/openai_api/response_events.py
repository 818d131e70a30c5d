"""Converts a run's events into the events of a streamed response. Pure.

The same events of a run always produce the same events with the same numbers, so that an interrupted stream is produced
again from the run's beginning without what the client has seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from contracts.openai_responses import OutputMessage, OutputText, ReasoningItem, ReasoningText, ResponseObject
from contracts.orchestrator import Citation
from contracts.run_events import (
    CitationChecked,
    MessageCompleted,
    MessageDelta,
    MessageRestarted,
    RunEventData,
    RunStarted,
    StageStarted,
    ThinkingDelta,
)
from orchestrator.openai_api.response_objects import ResponseRun, begun, message_id, output_text
from orchestrator.runs.streams import Entry
from service_kit.server_sent import HEARTBEAT

READ: dict[str, type[RunEventData]] = {
    event.name: event
    for event in (
        RunStarted,
        StageStarted,
        ThinkingDelta,
        MessageDelta,
        MessageRestarted,
        CitationChecked,
        MessageCompleted,
    )
}
TERMINAL = {
    "completed": "response.completed",
    "incomplete": "response.incomplete",
    "failed": "response.failed",
    "cancelled": "response.cancelled",
}


@dataclass
class OpenItem:
    """An output item in progress."""

    kind: Literal["reasoning", "message"]
    id: str
    text: list[str] = field(default_factory=list)

    @property
    def part(self) -> OutputText | ReasoningText:
        text = "".join(self.text)
        return OutputText(text=text) if self.kind == "message" else ReasoningText(text=text)


@dataclass
class ResponseEvents:
    """Produces the events after the number `after`; `number` is the next event's.

    A text that starts over is a new item; the previous one is closed as incomplete. The terminal event has the whole
    response, which is authoritative.
    """

    response_run: ResponseRun
    base_url: str
    after: int = -1
    number: int = 0
    index: int = 0
    is_begun: bool = False
    item: OpenItem | None = None
    is_written: bool = False
    thought: list[ReasoningItem] = field(default_factory=list)
    citations: dict[int, Citation] = field(default_factory=dict)

    def opening(self) -> bytes:
        return self._event("response.created", response=begun(self.response_run))

    def of(self, entry: Entry | None) -> bytes:
        """Returns the bytes to send for an event that is not terminal, possibly none."""
        if entry is None:
            return HEARTBEAT
        _, name, data = entry
        event = READ[name].model_validate_json(data) if name in READ else None
        return b"".join(self._made(event))

    def terminal(self, response: ResponseObject) -> bytes:
        """Returns the last events; the very last one is included in any case."""
        made = b"".join(self._close("incomplete"))
        self.number = max(self.number, self.after + 1)
        return made + self._event(TERMINAL[response.status], response=response)

    def _made(self, event: RunEventData | None) -> Iterator[bytes]:
        match event:
            case RunStarted() if not self.is_begun:
                self.is_begun = True
                yield self._event("response.in_progress", response=begun(self.response_run))
            case StageStarted() if self.item is None and not self.is_written:
                yield f": {event.label}\n\n".encode()
            case ThinkingDelta() if not self.is_written:
                yield from self._say("reasoning", event.text)
            case MessageDelta():
                yield from self._say("message", event.text)
            case MessageRestarted():
                self.citations.clear()
                self.is_written = False
                yield from self._close("incomplete")
            case CitationChecked():
                self.citations[event.citation.number] = event.citation
            case MessageCompleted():
                yield from self._complete(event)

    def _say(self, kind: Literal["reasoning", "message"], text: str) -> Iterator[bytes]:
        if self.item is None or self.item.kind != kind:
            yield from self._close("completed")
            yield from self._open(kind)
        assert self.item is not None
        self.item.text.append(text)
        if kind == "message":
            yield self._in_item("response.output_text.delta", delta=text, logprobs=[])
        else:
            yield self._in_item("response.reasoning_text.delta", delta=text)

    def _open(self, kind: Literal["reasoning", "message"]) -> Iterator[bytes]:
        own = message_id(self.response_run.run)
        again = f"_{self.index}" if self.index else ""
        if kind == "message":
            self.is_written, self.item = True, OpenItem(kind, own)
            item: BaseModel = OutputMessage(id=own, status="in_progress", content=[])
        else:
            self.item = OpenItem(kind, f"{own.replace('msg_', 'rs_')}{again}")
            item = ReasoningItem(id=self.item.id, status="in_progress")
        yield self._event("response.output_item.added", output_index=self.index, item=item)
        yield self._in_item("response.content_part.added", part=self.item.part)

    def _complete(self, event: MessageCompleted) -> Iterator[bytes]:
        if self.item is None or self.item.kind != "message":
            yield from self._say("message", event.content)
        assert self.item is not None
        part = output_text(event.content, list(self.citations.values()), self.base_url)
        for at, annotation in enumerate(part.annotations):
            yield self._in_item("response.output_text.annotation.added", annotation_index=at, annotation=annotation)
        yield from self._close("incomplete" if event.incomplete else "completed", part)

    def _close(self, status: Literal["completed", "incomplete"], final: OutputText | None = None) -> Iterator[bytes]:
        if self.item is None:
            return
        part = final or self.item.part
        if isinstance(part, OutputText):
            item: OutputMessage | ReasoningItem = OutputMessage(id=self.item.id, status=status, content=[part])
            yield self._in_item("response.output_text.done", text=part.text, logprobs=[])
        else:
            item = ReasoningItem(id=self.item.id, status=status, content=[part])
            self.thought.append(item)
            yield self._in_item("response.reasoning_text.done", text=part.text)
        yield self._in_item("response.content_part.done", part=part)
        yield self._event("response.output_item.done", output_index=self.index, item=item)
        self.item, self.index = None, self.index + 1

    def _in_item(self, kind: str, **values: object) -> bytes:
        assert self.item is not None
        return self._event(kind, item_id=self.item.id, output_index=self.index, content_index=0, **values)

    def _event(self, kind: str, **values: object) -> bytes:
        number = self.number
        self.number += 1
        if number <= self.after:
            return b""
        body = {"type": kind, "sequence_number": number, **{name: _plain(value) for name, value in values.items()}}
        return f"event: {kind}\ndata: {json.dumps(body, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def _plain(value: object) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
