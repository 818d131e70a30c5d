"""Asks the model about one chunk; reports the result and its cost."""

from __future__ import annotations

from inference.chat import StructuredChatModel
from inference.errors import ChatError, ProviderRejected, StreamCut, UnreadableReply
from inference.estimate import estimated_tokens
from knowledge_graph.refinement.asking import RefinementPrompt, answer_schema
from knowledge_graph.refinement.findings import read_answer
from knowledge_graph.refinement.metrics import RefinementMetrics
from knowledge_graph.refinement.records import CallCost, CallOutcome

# Statuses with which a provider rejects the text (too long, filtered), not the key or the model.
OF_THE_CHUNK = frozenset({400, 413, 422})
UNREADABLE = "the answer holds no JSON of the form that was asked for"


class Asker:
    """Asks the chat model. `answer_tokens` bounds an answer, including a model's reasoning."""

    def __init__(
        self, chat: StructuredChatModel, asking: RefinementPrompt, answer_tokens: int, metrics: RefinementMetrics
    ) -> None:
        self.chat, self.asking, self.answer_tokens, self.metrics = chat, asking, answer_tokens, metrics
        self.schema = answer_schema()

    @property
    def model(self) -> str:
        return self.chat.model

    def most_tokens(self, chunk_tokens: int) -> int:
        """Returns an upper bound of the tokens for asking about a chunk."""
        return self.asking.overhead_tokens + chunk_tokens + self.answer_tokens

    async def ask(self, content: str) -> CallOutcome:
        """Asks about one chunk. Raises ChatError for failures that the chunk did not cause."""
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
            # The provider charges for it but does not say how much.
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
            # Another answer would be just as long.
            return CallOutcome(cost, error=f"the answer is longer than {self.answer_tokens} tokens", final=True)
        return CallOutcome(cost, error=UNREADABLE)
