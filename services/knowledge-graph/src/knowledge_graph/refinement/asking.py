"""The question to the model about a chunk, and its size in tokens. Pure, except for reading the prompt file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

from inference.chat import AnswerSchema, ChatMessage
from inference.estimate import estimated_tokens
from inference.prompts import Prompt, load_prompts
from knowledge_graph.extraction.sentences import Sentences

TYPES = (
    *("PERSON", "ORG", "GPE", "LOC", "FAC", "NORP", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE"),
    *("SERVICE", "IDENTIFIER", "CONCEPT", "ENTITY"),
)
DIGEST_BYTES = 16
# What providers add around the messages, and the schema, which they also count.
FRAME_TOKENS = 260
SHORTEST_CHUNK = 25
WHITE = re.compile(r"\s+")


def digest_of(content: str) -> bytes:
    """Hashes only the text: the same chunk has the same digest in every document."""
    return sha256(content.encode("utf-8", "replace")).digest()[:DIGEST_BYTES]


def is_worth_asking(content: str) -> bool:
    """Returns False for texts that cannot state anything: too short, or without letters."""
    return len(content) >= SHORTEST_CHUNK and any(char.isalpha() for char in content)


def expected_answer_tokens(chunk_tokens: int) -> int:
    """Returns the typical length of an answer, which grows with the names in the chunk."""
    return 40 + chunk_tokens


@dataclass(frozen=True)
class ChunkQuestion:
    """The messages for one chunk."""

    messages: list[ChatMessage]
    tokens: int


@dataclass(frozen=True)
class RefinementPrompt:
    """The prompt, loaded once."""

    prompt: Prompt

    @classmethod
    def load(cls) -> Self:
        """Loads the prompt. Raises PromptInvalid."""
        [prompt] = load_prompts("knowledge_graph.refinement", {"prompts/extract.md": ("fence", "types")}).values()
        return cls(prompt)

    @property
    def overhead_tokens(self) -> int:
        """The tokens of a call without the chunk."""
        return self.question("").tokens

    def question(self, content: str) -> ChunkQuestion:
        """Returns the messages. The fence is named after the text's digest, so the text cannot close it."""
        fence = f"passage-{digest_of(content).hex()[:12]}"
        system = self.prompt.render(fence=fence, types=", ".join(TYPES))
        lines = [
            f"[{number}] {WHITE.sub(' ', content[start:end])}"
            for number, (start, end) in enumerate(Sentences(content).spans, 1)
        ]
        user = "\n".join([f"<{fence}>", *lines, f"</{fence}>"])
        return ChunkQuestion(
            [ChatMessage("system", system), ChatMessage("user", user)],
            FRAME_TOKENS + estimated_tokens(system) + estimated_tokens(user),
        )


def chunk_tokens(content: str) -> int:
    """Estimates the tokens of a chunk in its question: the text and the sentence numbers."""
    return estimated_tokens(content) + 3 * len(Sentences(content).spans)


def answer_schema() -> AnswerSchema:
    """Returns the schema as strict providers want it: every property is required, no others are allowed."""
    text = {"type": "string"}
    entity = _closed({"name": text, "type": {"type": "string", "enum": list(TYPES)}})
    relation = _closed({"source": text, "relation": text, "target": text, "sentence": {"type": "integer"}})
    lists = {"entities": _list(entity), "relations": _list(relation)}
    return AnswerSchema("facts_of_a_passage", _closed(lists))


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    required: Sequence[str] = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}
