"""Converts chunks into state, prompts and citations, within token budgets. Does no IO."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from contracts.fixed_answers import NO_REASON, NOT_NAMED, NOT_TOLD
from contracts.graph_tools import AnswerSource
from contracts.orchestrator import Citation, SentenceCheck, SentenceStatus
from contracts.prompt_fence import fenced, neutralising
from contracts.retrieval import MOST_CHARACTERS, Hit
from orchestrator.citations.assess import CUT, assess, assess_quotations, unchecked
from orchestrator.citations.check import check
from orchestrator.citations.extract import Highlighted, covered, extract, names_and_tells, unexplained, untold
from orchestrator.citations.named import named_in
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.wording import WordLikeness
from orchestrator.citations.writing import Assessed, AssessedSentence
from orchestrator.graphs.conversation.budgets import within_budget
from orchestrator.graphs.conversation.state import Cited, FoundChunk, Turn
from relevance.german import language_of

NONE = "(none)"
ENDING = 40
ACROSS = 0.6
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)*_`]*+(?:\s*+\[\d++])*+\s*+$")
neutralised = neutralising("passage", "memory", "summary")


def passage_of(hit: Hit) -> FoundChunk:
    return FoundChunk(
        chunk_id=hit.chunk_id,
        document_id=str(hit.document_id),
        document_name=hit.document_name,
        document_title=hit.document_title,
        section=" > ".join(hit.heading_path) or hit.section_title,
        page=hit.page,
        line_start=hit.line_start,
        line_end=hit.line_end,
        score=hit.score,
        content=hit.content,
        highlights=[(one.start, one.end, one.score) for one in hit.highlights],
        chunk_index=hit.chunk_index,
        boxes=[one.model_dump(mode="json") for one in hit.boxes],
        markdown_start=hit.markdown_start,
        markdown_end=hit.markdown_end,
        graph_path=hit.graph_path,
    )


def passage_of_source(source: AnswerSource) -> FoundChunk:
    """Returns the chunk that a part of the graph's answer is from, with that part as its highlight."""
    return FoundChunk(
        chunk_id=source.chunk_id,
        document_id=str(source.document_id),
        document_name=source.document_name,
        document_title=None,
        section=source.section,
        page=source.page,
        line_start=source.line_start,
        line_end=source.line_end,
        score=source.confidence,
        content=source.content,
        highlights=[(source.start, source.end, source.confidence)],
        markdown_start=source.markdown_start,
        markdown_end=source.markdown_end,
    )


def citation_of(cited: Cited, passage: FoundChunk) -> Citation:
    """Returns the citation with its place and quote."""
    return Citation.model_validate(
        {
            **{name: passage[name] for name in Citation.model_fields if name in passage},  # type: ignore[literal-required]  # fields of both
            "number": cited["number"],
            "boxes": boxes_within(passage.get("boxes", ()), cited["start"], cited["end"]),
            "quote": passage["content"][cited["start"] : cited["end"]],
            "start": cited["start"],
            "end": cited["end"],
        }
    )


def boxes_within(boxes: Iterable[dict[str, Any]], start: int, end: int) -> list[dict[str, Any]]:
    """Returns the boxes of the lines that characters `start` to `end` are on."""
    return [one for one in boxes if one["start"] < end and one["end"] > start]


def sources_of(passages: Sequence[FoundChunk], alike: WordLikeness) -> list[SourceText]:
    """Returns the passages prepared for comparison with sentences."""
    return [
        SourceText(one["content"], f"{one['document_title'] or ''} {one['section'] or ''}".strip(), alike)
        for one in passages
    ]


def sentence_of(found: AssessedSentence, passages: Sequence[FoundChunk]) -> SentenceCheck:
    """Returns the result of a sentence's check for clients."""
    return SentenceCheck(
        start=found.start,
        end=found.end,
        status=SentenceStatus(found.status),
        reason=found.reason,
        citations=list(found.citations),
        attributed=found.attributed,
        chunk_id=passages[found.passage - 1]["chunk_id"] if found.passage else None,
    )


@dataclass(frozen=True)
class Verified:
    """A text with its valid citations and its checked sentences; `removed` counts the removed citations."""

    content: str
    citations: list[Citation]
    sentences: list[SentenceCheck]
    removed: int


def verified(
    content: str,
    cited: Sequence[CitedSpan],
    passages: Sequence[FoundChunk],
    alike: WordLikeness,
    *,
    extractive: bool,
) -> Verified:
    """Checks every citation and sentence against the passages of this run. CPU-bound: call it in a thread."""
    checked = check(content, cited, [passage["content"] for passage in passages])
    return verified_of(
        assess_quotations(checked) if extractive else assess(checked, sources_of(passages, alike)), passages
    )


def verified_of(assessed: Assessed, passages: Sequence[FoundChunk]) -> Verified:
    """Returns the text with its citations and sentences for clients."""
    return Verified(
        assessed.content,
        [citation_of(cast(Cited, asdict(one)), passages[one.passage - 1]) for one in assessed.cited],
        [sentence_of(one, passages) for one in assessed.sentences],
        assessed.removed,
    )


def unverified(content: str) -> Verified:
    """Returns a text that cannot be checked, without its markers and with every sentence unchecked."""
    checked = check(content, [], [])
    return Verified(checked.content, [], [sentence_of(one, []) for one in unchecked(checked.content)], checked.removed)


def of_cut(found: Verified) -> Verified:
    """Adapts the check of a text that was cut while it was written, whose last sentence is incomplete.

    The part that exists may be verified; any other status is dropped.
    """
    if not found.sentences or _ENDED.search(found.content[-ENDING:]):
        return found
    *before, last = found.sentences
    if last.status is SentenceStatus.verified:
        return found
    left = last.model_copy(update={"status": SentenceStatus.unchecked, "reason": CUT, "chunk_id": None})
    return replace(found, sentences=[*before, left])


def quoted(question: str, passages: Sequence[FoundChunk]) -> tuple[str, list[CitedSpan]]:
    """Returns an answer with quotations, empty if there is nothing to quote. It says so if a reason is asked for and
    none is given, or if nothing tells of the event that the question supposes.

    It also says which names of the question no passage has. Then only parts with another of its names are quoted, if
    the question asks about both alike ("INC-207 and INC-208"): anything else would be mistaken for the answer.
    """
    question = question[:MOST_CHARACTERS]
    titles = [passage["document_title"] or "" for passage in passages]
    texts = [f"{passage['document_name']} {passage['section'] or ''} {passage['content']}" for passage in passages]
    named = named_in(question, [*texts, *titles])
    missing = ""
    if passages and named.absent:
        language = language_of(question)
        missing = NOT_NAMED[language].format({"en": " or ", "de": " oder "}[language].join(named.absent))
    if missing and not named.apart:
        return missing, []
    highlighted = _highlighted(passages)
    answer, cited = extract(question, highlighted, named.there if missing else ())
    reserve = _reserve(question, highlighted, cited) if cited else ""
    return "\n\n".join(filter(None, (missing, reserve, answer))), cited


def _reserve(question: str, passages: Sequence[Highlighted], cited: Sequence[CitedSpan]) -> str:
    """Returns what precedes quotations that lack what was asked for: the event that is supposed, or its reason.

    Quotations in a language other than the question's have other words for the event.
    """
    language = language_of(question)
    contents = [passages[one.passage - 1].content for one in cited]
    if untold(question, passages, cited) and all(language_of(one) == language for one in contents):
        return NOT_TOLD[language]
    return NO_REASON[language] if unexplained(question, passages, cited) else ""


def answers_anyway(question: str, passages: Sequence[FoundChunk]) -> bool:
    """Returns whether passages that are not a good match answer the question.

    They do if one is the author line or the like of a document that it names, or if those in another language than the
    question's have most of its names and words: monolingual encoders and lexical measures find the two dissimilar,
    whatever they say.
    """
    if names_and_tells(question[:MOST_CHARACTERS], _highlighted(passages)):
        return True
    language = language_of(question)
    foreign = [one for one in passages if language_of(one["content"]) != language]
    return bool(foreign) and covered(question[:MOST_CHARACTERS], _highlighted(foreign)) >= ACROSS


def _highlighted(passages: Sequence[FoundChunk]) -> list[Highlighted]:
    return [
        Highlighted(
            passage["document_title"] or passage["document_name"],
            passage["content"],
            passage["highlights"],
            passage["score"],
            passage["section"] or "",
            passage.get("chunk_index", 0),
            passage["document_name"],
        )
        for passage in passages
    ]


def fitting(passages: Sequence[FoundChunk], tokens: int) -> Sequence[FoundChunk]:
    """Returns the best passages that together fit into the budget, at least one."""
    return passages[: max(1, within_budget([passage["content"] for passage in passages], tokens))]


def numbered(passages: Sequence[FoundChunk]) -> str:
    """Returns the passages for a prompt, each in a fence that its text cannot close."""
    return (
        "\n\n".join(
            fenced(number, passage["document_name"], passage["section"], (passage["page"], None), _content(passage))
            for number, passage in enumerate(passages, 1)
            if passage["content"]
        )
        or NONE
    )


def remembered(memories: Sequence[str]) -> str:
    """Returns the memories for a prompt, fenced in the same way."""
    return "\n".join(f"<memory>{neutralised(memory)}</memory>" for memory in memories) or NONE


def condensed(turns: Sequence[Turn]) -> str:
    """Returns the summary of earlier messages for a prompt, fenced in the same way."""
    return (
        "\n".join(f"<summary>{neutralised(turn['content'])}</summary>" for turn in turns if turn["role"] == "summary")
        or NONE
    )


def _content(passage: FoundChunk) -> str:
    return neutralised(passage["content"])
