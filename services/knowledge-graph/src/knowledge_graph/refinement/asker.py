"""Asks the model about one chunk, and tells what came of it and what it took."""

from __future__ import annotations

from inference.chat import StructuredChatModel
from inference.errors import ChatError, ProviderRejected, StreamCut, UnreadableReply
from inference.estimate import estimated_tokens
from knowledge_graph.refinement.asking import RefinementPrompt, answer_schema
from knowledge_graph.refinement.findings import read_answer
from knowledge_graph.refinement.metrics import RefinementMetrics
from knowledge_graph.refinement.records import CallCost, CallOutcome

# Refusals of the text (too long, filtered), not of the key or the model.
OF_THE_CHUNK = frozenset({400, 413, 422})
UNREADABLE = "the answer holds no JSON of the form that was asked for"


class Asker:
    """Asks the chat model. `answer_tokens` bounds an answer, thinking included where the model thinks."""

    def __init__(
        self, chat: StructuredChatModel, asking: RefinementPrompt, answer_tokens: int, metrics: RefinementMetrics
    ) -> None:
        self.chat, self.asking, self.answer_tokens, self.metrics = chat, asking, answer_tokens, metrics
        self.schema = answer_schema()

    @property
    def model(self) -> str:
        return self.chat.model

    def most_tokens(self, chunk_tokens: int) -> int:
        """Bounds what asking about a chunk can take."""
        return self.asking.overhead_tokens + chunk_tokens + self.answer_tokens

    async def ask(self, content: str) -> CallOutcome:
        """Asks about one chunk. Raises ChatError for what is not the chunk's fault."""
        try:
            outcome = await self._ask(content)
        except ChatError:
            self.metrics.fail()
            raise
        self.metrics.count(outcome)
        return outcome

    async def _ask(self, content: str) -> CallOutcome:
        question = self.asking.question(content)
        try:
            answer = await self.chat.complete_structured(question.messages, self.schema, max_tokens=self.answer_tokens)
        except StreamCut as error:
            # Paid for, though nobody says how much.
            return CallOutcome(CallCost(1, question.tokens, self.answer_tokens), error=str(error))
        except UnreadableReply as error:
            return CallOutcome(CallCost(1, question.tokens), error=str(error))
        except ProviderRejected as error:
            if error.status in OF_THE_CHUNK:
                return CallOutcome(CallCost(), error=str(error), final=True)
            raise
        usage = answer.usage
        cost = (
            CallCost(1, usage.input_tokens, usage.output_tokens)
            if usage
            else CallCost(1, question.tokens, estimated_tokens(answer.text))
        )
        findings = read_answer(answer.text, content)
        if findings is not None:
            return CallOutcome(cost, findings)
        if answer.cut_short:
            # It would be as long again.
            return CallOutcome(cost, error=f"the answer is longer than {self.answer_tokens} tokens", final=True)
        return CallOutcome(cost, error=UNREADABLE)
