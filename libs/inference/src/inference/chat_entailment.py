"""Entailment by a chat model that is asked for structured verdicts."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ValidationError

from contracts.prompt_fence import neutralising
from inference.chat import AnswerSchema, ChatMessage, StructuredChatModel
from inference.entailment import EntailmentScores, TextPair
from inference.errors import UnreadableReply
from inference.prompts import load_prompts

_BATCH = 8
_TOKENS_OF_VERDICT = 24
_neutralised = neutralising("pair", "source", "sentence")


class PairVerdict(BaseModel):
    """What the model says of pair `number`, counted from 1."""

    number: int
    verdict: Literal["entailment", "neutral", "contradiction"]


class PairVerdicts(BaseModel):
    """The model's answer."""

    verdicts: list[PairVerdict]


SCHEMA = AnswerSchema("verdicts", PairVerdicts.model_json_schema())


class ChatEntailment:
    """Asks for several pairs at once. Does not own the chat model, and does not close it."""

    def __init__(self, chat: StructuredChatModel) -> None:
        """Raises PromptInvalid."""
        self._chat = chat
        [self._prompt] = load_prompts("inference", {"chat_entailment.md": ("pairs",)}).values()

    @property
    def model(self) -> str:
        return self._chat.model

    async def classify(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        found: list[EntailmentScores] = []
        for start in range(0, len(pairs), _BATCH):
            found += await self._batch(pairs[start : start + _BATCH])
        return found

    async def aclose(self) -> None:
        """Leaves the chat model to its owner."""

    async def _batch(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        prompt = self._prompt.render(pairs="\n\n".join(_shown(number, pair) for number, pair in enumerate(pairs, 1)))
        answer = await self._chat.complete_structured(
            [ChatMessage("user", prompt)], SCHEMA, max_tokens=_TOKENS_OF_VERDICT * (len(pairs) + 2)
        )
        try:
            verdicts = PairVerdicts.model_validate_json(_json(answer.text)).verdicts
        except ValidationError as error:
            raise UnreadableReply("no verdicts by the schema") from error
        by_number = {one.number: one.verdict for one in verdicts}
        if len(verdicts) != len(pairs) or by_number.keys() != set(range(1, len(pairs) + 1)):
            raise UnreadableReply(f"{len(verdicts)} verdicts for {len(pairs)} pairs")
        return [
            EntailmentScores(
                *(float(by_number[number] == label) for label in ("entailment", "neutral", "contradiction"))
            )
            for number in range(1, len(pairs) + 1)
        ]


def _shown(number: int, pair: TextPair) -> str:
    source, sentence = _neutralised(pair.premise), _neutralised(pair.hypothesis)
    return f'<pair number="{number}">\n<source>{source}</source>\n<sentence>{sentence}</sentence>\n</pair>'


def _json(text: str) -> str:
    """Returns the text between the outer braces: models like to put JSON into a code fence."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text
