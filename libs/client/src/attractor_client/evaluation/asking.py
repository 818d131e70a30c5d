"""Asks the questions of an evaluation and judges the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from pydantic import ValidationError

from attractor_client.client import AttractorClient
from attractor_client.errors import InvalidRequest
from attractor_client.evaluation.corpus import Progress
from attractor_client.evaluation.judging import JudgedHits, JudgedQuestion, judge
from attractor_client.evaluation.metrics import measure
from attractor_client.evaluation.results import Answer, Expected, QuestionResult, RankedHit
from attractor_client.evaluation.workers import side_by_side
from contracts.locations import location
from contracts.retrieval import Hit, SearchMode, SearchRequest

Call = tuple[JudgedQuestion, SearchMode]


@dataclass(frozen=True)
class Asking:
    """How to ask questions. `names`: names of documents to show, by default the server's."""

    modes: Sequence[SearchMode]
    k: int = 10
    jobs: int = 1
    use_graph: bool = True
    rerank: bool = True
    fold_duplicates: bool = False
    names: Mapping[UUID, str] = field(default_factory=dict)

    async def run(
        self, client: AttractorClient, questions: Sequence[JudgedQuestion], progress: Progress
    ) -> list[QuestionResult]:
        """Returns the results in the order of the questions. A rejected question counts as having found nothing.

        Each question is asked in all modes before the next one, starting with a different mode each time. This spreads
        the time for embedding the question, which the service then caches, over all modes.
        """
        results = [
            QuestionResult(id=one.question.id, text=one.question.text, expected=_expected(one), answers={})
            for one in questions
        ]
        by_id = {result.id: result for result in results}
        calls, total, done = iter(self._calls(questions)), len(questions) * len(self.modes), 0

        async def work() -> None:
            nonlocal done
            for question, mode in calls:
                by_id[question.question.id].answers[mode.value] = await self._answer(client, question, mode)
                done += 1
                progress("asking", done, total)

        await side_by_side(self.jobs, work)
        return results

    def _calls(self, questions: Sequence[JudgedQuestion]) -> Iterator[Call]:
        modes = list(self.modes)
        for number, question in enumerate(questions):
            first = number % len(modes)
            yield from ((question, mode) for mode in modes[first:] + modes[:first])

    async def _answer(self, client: AttractorClient, question: JudgedQuestion, mode: SearchMode) -> Answer:
        grades = [target.grade for target in question.targets]
        try:
            found, seconds = await client.search.timed(self.request(question, mode))
        except (InvalidRequest, ValidationError) as error:
            missing = [target.label for target in question.targets]
            return Answer(metrics=measure([], grades, self.k), missing=missing, error=" ".join(str(error).split()))
        judgement = judge(found.hits, question, self.k)
        return Answer(
            metrics=measure(judgement.ranked, grades, self.k),
            milliseconds=round(1000 * seconds, 1),
            service_milliseconds=round(found.milliseconds, 1),
            cached=found.cached,
            hits=self._hits(judgement),
            missing=[target.label for target in judgement.missing],
            legs_left_out=[f"{leg.leg}: {leg.error}" for leg in found.legs if leg.error],
        )

    def request(self, question: JudgedQuestion, mode: SearchMode) -> SearchRequest:
        """Returns the request; if documents are judged rather than passages, one chunk of each is enough."""
        return SearchRequest(
            query=question.question.text,
            k=self.k,
            mode=mode,
            use_graph=self.use_graph,
            rerank=self.rerank,
            fold_duplicates=self.fold_duplicates,
            max_per_document=None if question.by_passage else 1,
        )

    def _hits(self, judgement: JudgedHits) -> list[RankedHit]:
        return [
            RankedHit(
                document=self.names.get(one.hit.document_id, one.hit.document_name),
                place=_place(one.hit),
                score=round(one.hit.score, 4),
                grade=one.grade,
            )
            for one in judgement.hits
        ]


def _place(hit: Hit) -> str:
    return location(" > ".join(hit.heading_path) or hit.section_title, hit.page, hit.line_start, hit.line_end)


def _expected(question: JudgedQuestion) -> list[Expected]:
    return [Expected(label=one.label, grade=one.grade, title=one.title) for one in question.targets]
