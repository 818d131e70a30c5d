"""Finds by vectors the closest source sentence for a sentence in a different language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from orchestrator.citations.assess import NOTHING_SAYS_IT
from orchestrator.citations.claims import AnswerSentence
from orchestrator.citations.judgement import OTHER_LANGUAGE
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan, shortened
from orchestrator.citations.writing import Finding
from service_kit.sentences import Span

Vectors = NDArray[np.float32]
# The sentences compared, and the sentences of the sources that they are compared with, cited sources first.
MOST_COMPARED, MOST_OF_SOURCES = 32, 96
NEARLY_AS_CLOSE = 0.05
CLOSEST = "it is in another language than its source: by a multilingual encoder it is close to what is cited"
NOT_CLOSE = "it is in another language than its source: a multilingual encoder finds nothing there that is close to it"

# Each is the same in English, German, French and Spanish.
SAMPLES: Sequence[Sequence[str]] = (
    (
        "The key is changed every month.",
        "Der Schlüssel wird jeden Monat gewechselt.",
        "La clé est changée tous les mois.",
        "La clave se cambia cada mes.",
    ),
    (
        "She leads the sales team.",
        "Sie leitet das Vertriebsteam.",
        "Elle dirige l'équipe commerciale.",
        "Ella dirige el equipo de ventas.",
    ),
    (
        "The ship is late because of the storm.",
        "Das Schiff verspätet sich wegen des Sturms.",
        "Le bateau est en retard à cause de la tempête.",
        "El barco llega tarde por la tormenta.",
    ),
    (
        "Nobody has paid the invoice.",
        "Niemand hat die Rechnung bezahlt.",
        "Personne n'a payé la facture.",
        "Nadie ha pagado la factura.",
    ),
)


def least_alike(vectors: Vectors) -> float | None:
    """Returns the cosine from which an encoder considers two sentences translations of each other.

    `vectors` are those of SAMPLES, in order. None if unrelated samples are closer than translations: the encoder then
    does not support these languages.
    """
    cosines = vectors @ vectors.T
    topics = np.repeat(np.arange(len(SAMPLES)), len(SAMPLES[0]))
    same = topics[:, None] == topics[None, :]
    lowest, highest = float(cosines[same].min()), float(cosines[~same].max())
    return (lowest + highest) / 2 if lowest > highest else None


class LookAcrossLanguages:
    """Collects sentences in another language while an answer is assessed; with their vectors, decides in a second pass.

    A sentence close to a source keeps its citation, from the closest sentence, and is unclear: vectors show neither a
    negation nor a wrong number.
    """

    def __init__(self, sources: Sequence[SourceText]) -> None:
        self.sources = sources
        self._compared: dict[str, None] = {}
        self._cited: dict[int, None] = {}
        self._alike: dict[str, list[tuple[float, CitedSpan]]] = {}
        self._least = 1.0

    def collect(self, sentence: AnswerSentence, finding: Finding) -> Finding:
        """Records the sentence if its language differs from its sources'."""
        if finding.reason == OTHER_LANGUAGE and len(self._compared) < MOST_COMPARED:
            self._compared[sentence.said] = None
            self._cited.update(dict.fromkeys(one.passage for one in finding.spans))
        return finding

    @property
    def texts(self) -> list[str]:
        """Returns the texts to embed; none if no sentence is in another language."""
        if not self._compared:
            return []
        return [*self._compared, *(self.sources[number - 1].content[slice(*span)] for number, span in self._places())]

    def answer(self, vectors: Vectors, least: float) -> None:
        """Takes the unit vectors of `texts`; `least` is the cosine from which two say the same."""
        sentence_vectors, there = vectors[: len(self._compared)], vectors[len(self._compared) :]
        spans = [CitedSpan(0, number, *span) for number, span in self._places()]
        self._least = least
        for text, cosines in zip(self._compared, sentence_vectors @ there.T, strict=True):
            self._alike[text] = sorted(zip(map(float, cosines), spans, strict=True), key=lambda one: -one[0])

    def decide(self, sentence: AnswerSentence, finding: Finding) -> Finding:
        """Returns the finding with the source closest to the sentence."""
        alike = self._alike.get(sentence.said)
        if not alike or finding.reason != OTHER_LANGUAGE:
            return finding
        close = [one for one in alike if one[0] >= max(self._least, alike[0][0] - NEARLY_AS_CLOSE)]
        if not close and finding.spans:
            return replace(finding, reason=NOT_CLOSE)
        if not close:
            return Finding("unsupported", NOTHING_SAYS_IT, (), finding.passage)
        cited = {one.passage for one in finding.spans}
        _, span = next((one for one in close if one[1].passage in cited), close[0])
        stands = any((one.passage, one.start, one.end) == (span.passage, span.start, span.end) for one in finding.spans)
        spans = finding.spans if stands else [span]
        return Finding("unclear", CLOSEST, spans, span.passage, attributed=not stands)

    def _places(self) -> list[tuple[int, Span]]:
        numbers = [*self._cited, *(one for one in range(1, len(self.sources) + 1) if one not in self._cited)]
        places = [
            (number, shortened(self.sources[number - 1].content, *span))
            for number in numbers
            for span in self.sources[number - 1].spans
        ]
        return places[:MOST_OF_SOURCES]
