"""Fills the tables of memory quickly: invented texts, prepared as by the service, with random vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
import psycopg
from benchmarks.synthetic_vocabulary import Vocabulary
from pgvector import Vector
from pgvector.psycopg import register_vector

from inference.embeddings import BUNDLED_SPACE
from relevance.analysis import Analyzer
from relevance.wordpieces import WordPieces

SEED = 19
BATCH = 1_000
MESSAGES_OF_A_SESSION = 20
YEARS = 3
WORDS = (5, 25)  # of a message
MEMORY = {
    "workspace_id": "uuid",
    "id": "uuid",
    "kind": "text",
    "content": "text",
    "created_by": "uuid",
    "session_id": "uuid",
    "said_at": "timestamptz",
    "created_at": "timestamptz",
    "terms": "text[]",
    "pieces": "bytea",
    "embedding_model": "text",
    "embedding": "vector",
    "revision": "int8",
}
EPISODE = {
    "workspace_id": "uuid",
    "id": "uuid",
    "session_id": "uuid",
    "position": "int4",
    "speaker": "text",
    "role": "text",
}
OWNER = "INSERT INTO owner_revision (workspace_id, user_id, revision) VALUES (%s, %s, %s)"


@dataclass(frozen=True)
class Owner:
    """A user with a number of messages."""

    user_id: UUID
    messages: int


class Texts:
    """Messages and questions of an invented language, determined by the seed."""

    def __init__(self) -> None:
        self.vocabulary, self.dice = Vocabulary(SEED), np.random.default_rng(SEED)

    def message(self) -> str:
        count = int(self.dice.integers(*WORDS))
        words = [self.vocabulary.any_words(self.dice, count // 2 + 1)]
        words.append(self.vocabulary.stop_words_of(self.dice, count // 2))
        mixed = self.dice.permutation(np.concatenate(words))
        return " ".join(self.vocabulary.texts[mixed])

    def question(self, message: str) -> str:
        """Returns a question with up to four words of a message."""
        words = message.split()
        return "what about " + " ".join(self.dice.choice(words, min(4, len(words)), replace=False)) + "?"


def load(url: str, workspace_id: UUID, owners: Sequence[Owner], texts: Texts) -> dict[UUID, list[str]]:
    """Loads the owners' messages, as the administrator; returns some of each owner's texts."""
    analyzer, pieces, samples = Analyzer(), WordPieces(), dict[UUID, list[str]]()
    with psycopg.connect(url) as connection:
        connection.execute("SET search_path TO memory, public")
        register_vector(connection)
        for owner in owners:
            samples[owner.user_id] = []
            connection.execute(OWNER, (workspace_id, owner.user_id, owner.messages))
            for first in range(0, owner.messages, BATCH):
                said = [texts.message() for _ in range(min(BATCH, owner.messages - first))]
                samples[owner.user_id] += said[:50]
                memories, episodes = _rows(workspace_id, owner, first, said, analyzer, pieces)
                _copy(connection, "memory", MEMORY, memories)
                _copy(connection, "episode", EPISODE, episodes)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE memory.memory")
        connection.execute("VACUUM ANALYZE memory.episode")
    return samples


def _rows(
    workspace_id: UUID, owner: Owner, first: int, said: list[str], analyzer: Analyzer, pieces: WordPieces
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    vectors = np.random.default_rng([SEED, first]).normal(size=(len(said), BUNDLED_SPACE.dims)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    began = datetime.now(UTC) - timedelta(days=365 * YEARS)
    step = timedelta(days=365 * YEARS) / owner.messages
    memories, episodes, session = list[tuple[object, ...]](), list[tuple[object, ...]](), uuid4()
    for at, (text, packed, vector) in enumerate(zip(said, pieces.distinct(said), vectors, strict=True)):
        if at % MESSAGES_OF_A_SESSION == 0:
            session = uuid4()
        one, when, place = uuid4(), began + step * (first + at), at % MESSAGES_OF_A_SESSION
        role = ("user", "assistant")[place % 2]
        model, terms = BUNDLED_SPACE.model, analyzer.terms(text)
        row = (workspace_id, one, "episode", text, owner.user_id, session, when, when, terms, packed, model)
        memories.append((*row, Vector(vector), first + at + 1))
        episodes.append((workspace_id, one, session, place, "" if role == "user" else role, role))
    return memories, episodes


def _copy(
    connection: psycopg.Connection, table: str, columns: dict[str, str], rows: Sequence[tuple[object, ...]]
) -> None:
    with connection.cursor().copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)


def owners_of(messages: int, small: int, of_small: int) -> Iterator[Owner]:
    """Yields one user who has most of the messages, and `small` ones with `of_small` each."""
    yield Owner(uuid4(), messages - small * of_small)
    for _ in range(small):
        yield Owner(uuid4(), of_small)
