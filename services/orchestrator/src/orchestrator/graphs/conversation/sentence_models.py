"""Uses models where the rules do not decide: an entailment model for open sentences, an encoder for other languages,
the chat model to rewrite wrong sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from contracts.orchestrator import SentenceCheck
from contracts.prompt_fence import neutralising
from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.errors import InferenceError
from inference.role_chat import RoleChat
from orchestrator.citations.assess import assess
from orchestrator.citations.check import check
from orchestrator.citations.claims import AnswerSentence
from orchestrator.citations.other_languages import LookAcrossLanguages
from orchestrator.citations.rewriting import Contradiction, contradictions, read_numbered, rewritten
from orchestrator.citations.second_look import SecondLook
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.writing import Assessed, Finding
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import Verified, sources_of, verified_of
from orchestrator.graphs.conversation.passages import verified as verified_by_rules
from orchestrator.graphs.conversation.state import FoundChunk
from service_kit.problems import ServiceSilent

REWRITING_SECONDS = 30.0
TOKENS_OF_SENTENCE = 80
neutralised = neutralising("source", "sentence")


async def verified(
    context: ConversationContext,
    content: str,
    cited: Sequence[CitedSpan],
    passages: Sequence[FoundChunk],
    mode: Literal["model", "extractive"],
) -> tuple[Verified, list[str]]:
    """Returns the checked answer, and the failures of models. An extractive answer needs no models."""
    if mode == "extractive":
        return await asyncio.to_thread(verified_by_rules, content, cited, passages, context.alike, extractive=True), []
    checks = ModelChecks(context, passages)
    return await checks.verified(content, cited), checks.issues


@dataclass
class ModelChecks:
    """Checks a model's answer against the passages of its run. `issues` are the failures of models."""

    context: ConversationContext
    passages: Sequence[FoundChunk]
    issues: list[str] = field(default_factory=list)

    async def verified(self, content: str, cited: Sequence[CitedSpan]) -> Verified:
        """Returns the answer, checked by the rules and the configured models, with rewritten sentences."""
        sources = sources_of(self.passages, self.context.alike)
        texts = [passage["content"] for passage in self.passages]
        look, across = SecondLook(sources), LookAcrossLanguages(sources)

        def collected(sentence: AnswerSentence, finding: Finding) -> Finding:
            return across.collect(sentence, look.collect(sentence, finding))

        def decided(sentence: AnswerSentence, finding: Finding) -> Finding:
            return across.decide(sentence, look.decide(sentence, finding))

        def checked(text: str, spans: Sequence[CitedSpan]) -> Assessed:
            return assess(check(text, spans, texts), sources, decided)

        found = await asyncio.to_thread(lambda: assess(check(content, cited, texts), sources, collected))
        again = await self._looked_again(look), await self._compared_across(across)
        if any(again):
            found = await asyncio.to_thread(checked, content, cited)
        wrong = contradictions(found, sources)
        new = await self._rewritten(wrong)
        text, instead = await asyncio.to_thread(rewritten, found, new, sources)
        if instead:
            removed = found.removed
            found = await asyncio.to_thread(checked, text, found.cited)
            found = replace(found, removed=removed + found.removed)
        verified_text = verified_of(found, self.passages)
        return replace(
            verified_text,
            sentences=[_with_original(one, verified_text.content, instead) for one in verified_text.sentences],
        )

    async def _looked_again(self, look: SecondLook) -> bool:
        model = self.context.entailment
        if model is None or not look.asked:
            return False
        try:
            async with asyncio.timeout(self.context.limits.entailment_seconds):
                look.answer(await model.classify(list(look.asked.values())))
        except (InferenceError, TimeoutError) as error:
            self._failed(f"the sentences were checked by rules alone: {str(error) or 'the model took too long'}")
            return False
        return True

    async def _compared_across(self, across: LookAcrossLanguages) -> bool:
        encoder = self.context.encoder
        if encoder is None:
            return False
        try:
            return await encoder.answer(across, self.context.caller)
        except ServiceSilent as error:
            self._failed(f"what is in another language was compared by names and numbers alone: {error}")
            return False

    async def _rewritten(self, wrong: Sequence[Contradiction]) -> dict[int, str]:
        """Returns the chat model's sentences by index; none if it fails."""
        chat = self.context.models.of("answer")
        if chat is None or not wrong:
            return {}
        try:
            async with asyncio.timeout(REWRITING_SECONDS):
                answer = await self._answered(chat, wrong)
        except (InferenceError, TimeoutError) as error:
            reason = str(error) or "the chat model took too long"
            self._failed(f"what the sources contradict was not rewritten: {reason}")
            return {}
        return read_numbered(answer, wrong)

    async def _answered(self, chat: RoleChat, wrong: Sequence[Contradiction]) -> str:
        shown = "\n\n".join(
            f"{number}.\n<source>{neutralised(one.evidence)}</source>\n<sentence>{neutralised(one.said)}</sentence>"
            f"\nWhat is wrong: {neutralised(one.reason)}"
            for number, one in enumerate(wrong, 1)
        )
        prompt = self.context.prompts.verify_citations.render(sentences=shown)
        return await chat.complete(
            [ChatMessage("user", prompt)], max_tokens=TOKENS_OF_SENTENCE * (len(wrong) + 1), temperature=0.0
        )

    def _failed(self, issue: str) -> None:
        self.issues.append(issue)
        self.context.events.emit(ProviderIssue(message=issue))


def _with_original(sentence: SentenceCheck, content: str, instead: dict[str, str]) -> SentenceCheck:
    """Returns the sentence, with the model's original one if it replaces it."""
    sentence_text = check(content[sentence.start : sentence.end], [], []).content
    original = next((old for new, old in instead.items() if new in sentence_text), None)
    return sentence.model_copy(update={"instead_of": original}) if original else sentence
