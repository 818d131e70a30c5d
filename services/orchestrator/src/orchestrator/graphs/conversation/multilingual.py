"""Compares sentences with sources in another language by the embedding model, if it supports both languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from orchestrator.citations.other_languages import SAMPLES, LookAcrossLanguages, Vectors, least_alike
from orchestrator.services import RetrievalService
from service_kit.auth import Principal


@dataclass
class MultilingualEncoder:
    """The model that embeds the documents. Its first use tests whether it supports several languages."""

    retrieval: RetrievalService
    _tried: str = field(init=False, default="")
    _least: float | None = field(init=False, default=None)

    async def answer(self, look: LookAcrossLanguages, caller: Principal) -> bool:
        """Compares the collected sentences; False if the model supports only one language. Raises ServiceSilent."""
        if not look.texts:
            return False
        least = self._least if self._tried else await self._try(caller)
        if least is None:
            return False
        vectors, model = await self._vectors(caller, look.texts)
        if model != self._tried:
            least = await self._try(caller)
        if least is None:
            return False
        look.answer(vectors, least)
        return True

    async def _try(self, caller: Principal) -> float | None:
        samples = [text for translations in SAMPLES for text in translations]
        vectors, self._tried = await self._vectors(caller, samples)
        self._least = least_alike(vectors)
        return self._least

    async def _vectors(self, caller: Principal, texts: Sequence[str]) -> tuple[Vectors, str]:
        answer = await self.retrieval.embedded(caller, texts)
        return np.array([one.embedding for one in answer.data], np.float32), answer.model
