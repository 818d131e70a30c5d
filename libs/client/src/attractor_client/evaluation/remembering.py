"""Measures recall of long conversations: imports them, asks questions, and checks for the messages with the answers.

A file is a JSON list in LoCoMo's format (Maharana et al. 2024): {"conversation_id", "sessions": [{"session_id", "time",
"turns": [{"id", "speaker", "text"}]}], "questions": [{"question", "category_name", "evidence_turn_ids"}]}.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any

from attractor_client.client import AttractorClient
from attractor_client.errors import AttractorError
from attractor_client.evaluation.workspaces import opened
from contracts.memory import ImportedConversation, ImportedMessage, ImportRequest, MemoryKind, RecallRequest

K = 10
AT_ONCE = 200
"""Messages of a session per request."""
PATIENCE_SECONDS = 900.0
SOURCE = "attractor eval memory"
ALL = "all"


@dataclass(frozen=True)
class AskedQuestion:
    """A question, its category, and the ids of the messages that contain the answer."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class AskedConversation:
    name: str
    sessions: list[ImportedConversation]
    questions: list[AskedQuestion]


@dataclass
class RecallFigures:
    """Recall of the evidence among the first ten memories by category, and what was imported.

    `seconds` has the time of each question, including the network.
    """

    recall: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    seconds: list[float] = field(default_factory=list)
    messages: int = 0
    facts: int = 0

    def mean_recall(self) -> dict[str, float]:
        """Returns the mean by category; the first is the mean of all questions."""
        return {name: mean(self.recall[name]) for name in sorted(self.recall, key=lambda one: (one != ALL, one))}


def read_conversations(file: Path) -> list[AskedConversation]:
    """Reads the file, without questions whose evidence is not in it. Raises AttractorError for another format."""
    try:
        return [_conversation(one) for one in json.loads(file.read_text("utf-8"))]
    except (KeyError, TypeError, ValueError) as error:
        raise AttractorError(f"{file} holds no conversations to ask about", repr(error)) from error


async def measure_recall(
    client: AttractorClient, conversations: list[AskedConversation], progress: Callable[[str], None]
) -> RecallFigures:
    """Imports each conversation into a workspace of its own, asks its questions, and deletes the workspace.

    Raises Forbidden unless the caller is an administrator.
    """
    figures = RecallFigures()
    for one in conversations:
        async with opened(client, f"evaluation {one.name}", fresh=True) as place:
            progress(f"{one.name}: {sum(len(part.messages) for part in one.sessions)} messages")
            turn_of = await _imported(place.client, one, figures)
            await _embedded(place.client)
            progress(f"{one.name}: {len(one.questions)} questions")
            for question in one.questions:
                started = time.perf_counter()
                found = await place.client.memories.ask(
                    RecallRequest(query=question.text, k=K, kinds=[MemoryKind.episode])
                )
                figures.seconds.append(time.perf_counter() - started)
                turns = {turn_of.get(str(memory.id)) for memory in found.memories[:K]}
                share = len(question.evidence & turns) / len(question.evidence)
                for name in (ALL, question.category):
                    figures.recall[name].append(share)
    return figures


async def _imported(client: AttractorClient, one: AskedConversation, figures: RecallFigures) -> dict[str, str]:
    """Imports the conversation; returns the messages' own ids by their ids in memory."""
    turn_of = dict[str, str]()
    for part in one.sessions:
        taken = await client.memories.take(ImportRequest(source=SOURCE, conversations=[part]))
        turn_of |= {str(memory_id): turn for turn, memory_id in taken.message_ids.items()}
        figures.messages += taken.added + taken.known
        figures.facts += taken.facts
    return turn_of


async def _embedded(client: AttractorClient) -> None:
    """Waits until all messages are embedded. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for left in _unembedded(client):
            if not left:
                return


async def _unembedded(client: AttractorClient) -> AsyncIterator[int]:
    while True:
        yield (await client.memories.ask(RecallRequest(query="hello", k=1))).unembedded
        await asyncio.sleep(1)  # the server has no event for it


def _conversation(one: dict[str, Any]) -> AskedConversation:
    sessions = [part for session in one["sessions"] for part in _parts(session)]
    known = {message.id for part in sessions for message in part.messages}
    questions = [
        AskedQuestion(question["question"], question["category_name"], evidence)
        for question in one["questions"]
        if (evidence := frozenset(question["evidence_turn_ids"]) & known)
    ]
    return AskedConversation(str(one["conversation_id"]), sessions, questions)


def _parts(session: dict[str, Any]) -> Iterator[ImportedConversation]:
    at = datetime.strptime(session["time"], "%I:%M %p on %d %B, %Y")
    messages = [
        ImportedMessage(id=turn["id"], role="speaker", speaker=turn["speaker"], content=turn["text"], at=at)
        for turn in session["turns"]
    ]
    for start in range(0, len(messages), AT_ONCE):
        yield ImportedConversation(id=session["session_id"], messages=messages[start : start + AT_ONCE])
