"""Judges whether a passage says what a sentence says. The rules compare words: they find a wrong number, name or
negation in a sentence close to its source; free paraphrase they report as unclear."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.citations.analysis import OPPOSITES, SYNONYMS, Analysis, beginning, contrary
from orchestrator.citations.numbers import Number, Numbers
from orchestrator.citations.relations import numbers_swapped, sides_swapped, substituted, words_turned
from orchestrator.citations.source import SourceText
from orchestrator.citations.terms import stem as stem_of
from orchestrator.citations.wording import WordLikeness, replaced, unlike
from service_kit.sentences import Span

Verdict = Literal["verified", "unclear", "contradicted"]

# Shares of a sentence's content words. From CLOSE on, a difference is a change; below it, it may be a paraphrase.
VERIFIED = 0.8
CLOSE = 0.6
RELATED = 0.4
NEARLY_COPIED = 0.8
FEW_WORDS = 6
WORD_FOR_WORD = "the source says so word for word"
BY_ITS_WORDS = "the source says so"
OTHER_LANGUAGE = "it is in another language than its source: names and numbers alone were compared"


@dataclass(frozen=True)
class Judgement:
    """The verdict of a source on a sentence, the reason, and the share of the sentence's words that it has.

    `span` is the part of the source that was compared, empty if it has no sentence.
    """

    verdict: Verdict
    reason: str
    share: float
    span: Span = (0, 0)


def judge(sentence: str, passage: str, heading: str = "", alike: WordLikeness = unlike) -> Judgement:
    """Compares a sentence with a passage, whose `heading` may contribute names and numbers."""
    return compare(Analysis(sentence), SourceText(passage, heading, alike))


def compare(claim: Analysis, source: SourceText) -> Judgement:
    """Compares the text with the most similar part of the source."""
    if not claim.words and not claim.numbers:
        return Judgement("unclear", "nothing to compare", 0.0)
    span, evidence = _evidence(claim, source)
    if f" {' '.join(claim.lower)} " in source.in_a_row:
        return Judgement("verified", WORD_FOR_WORD, 1.0, span)
    whole = source.whole
    share = _share(claim, evidence)
    language = _language(claim, whole)
    found = next(_contradictions(claim, evidence, whole, share, language), None)
    if found:
        return Judgement("contradicted", found, share, span)
    missing = next((word.text for word in claim.words if not _stands(word.stem, evidence)), "")
    if missing and is_foreign(claim, whole):
        return Judgement("unclear", OTHER_LANGUAGE, share, span)
    if share < VERIFIED or (len(claim.words) < 4 and missing):
        reason = f"the source does not say “{missing}”" if missing else "too little in common"
        return Judgement("unclear", reason, share, span)
    if not _numbers_stand(claim, whole):
        return Judgement("unclear", "a number is not in the source", share, span)
    if elsewhere := _from_another(claim, source, span):
        return Judgement("unclear", f"the source says “{elsewhere}” of something else", share, span)
    if changed := replaced(claim, evidence, source.alike):
        return Judgement("unclear", f"it says “{changed[0]}” where the source says “{changed[1]}”", share, span)
    if turned := words_turned(claim, evidence):
        return Judgement("unclear", f"around “{turned}” the source has the words the other way round", share, span)
    return Judgement("verified", BY_ITS_WORDS, share, span)


def is_foreign(claim: Analysis, source: Analysis) -> bool:
    """Returns whether the two are in different languages, as far as their words tell."""
    return bool(claim.language and source.language) and claim.language != source.language


def _evidence(claim: Analysis, source: SourceText) -> tuple[Span, Analysis]:
    """Returns the source's sentence that shares the most with the text, with a neighbour that adds to it."""
    texts = source.texts
    if not texts:
        return (0, 0), Analysis("")
    common = [claim.stems & text.stems for text in texts]
    values = {one.values for one in claim.numbers}
    figures = [0.5 * len(values & {one.values for one in text.numbers}) if values else 0.0 for text in texts]
    best = max(range(len(texts)), key=lambda at: (len(common[at]) + figures[at], -len(texts[at].stems)))
    beside = [
        at
        for at in (best - 1, best + 1)
        if 0 <= at < len(texts) and len(common[at] - common[best]) > 0.15 * len(claim.stems)
    ]
    if not beside:
        return source.stretch(best, best)
    other = max(beside, key=lambda at: len(common[at] - common[best]))
    return source.stretch(min(best, other), max(best, other))


def _from_another(claim: Analysis, source: SourceText, span: Span) -> str:
    """Returns a noun that one of two sentences has where the other has something else."""
    within = [text for at, text in enumerate(source.texts) if span[0] <= source.spans[at][0] < span[1]]
    if len(within) < 2:
        return ""
    closest = max(within, key=lambda text: len(claim.stems & text.stems))
    return substituted(claim, closest, [word for word in claim.words if not _stands(word.stem, closest)])


def _stands(stem: str, text: Analysis) -> bool:
    if stem in text.all_stems or beginning(stem) in text.beginnings:
        return True
    return not text.all_stems.isdisjoint(SYNONYMS.get(stem, ()))


def _share(claim: Analysis, text: Analysis) -> float:
    return sum(_stands(word.stem, text) for word in claim.words) / len(claim.words) if claim.words else 1.0


def _language(claim: Analysis, source: Analysis) -> str:
    """Returns the common language, whose lists apply; nothing if the languages differ or have no lists."""
    language = claim.language or source.language
    same = language == (source.language or language)
    return language if same and language != "other" else ""


def _numbers_stand(claim: Analysis, source: Analysis) -> bool:
    there = Numbers(source.numbers)
    return all(there.has(number) for number in claim.numbers if not number.spelled)


def _contradictions(
    claim: Analysis, evidence: Analysis, source: Analysis, share: float, language: str
) -> Iterator[str]:
    """Yields the reasons against the sentence, in plain words."""
    if share >= RELATED or not language:
        yield from _numbers(claim, evidence if share >= VERIFIED and language else source, source)
    if share >= CLOSE or not language:
        yield from _names(claim, source, language)
    if share < CLOSE:
        return
    if found := sides_swapped(claim, evidence, language):
        yield f"the source says it the other way round: “{found}”"
    if not language:
        return
    opposite = _opposite(claim, evidence)
    denial = _denial(claim, evidence)
    if opposite and denial:
        return  # "not enabled" is "disabled"
    if opposite or denial:
        yield opposite or denial
    if numbers_swapped(claim, evidence):
        yield "the numbers have changed places"
    unseen = [word for word in claim.words if not _stands(word.stem, evidence)]
    if share >= NEARLY_COPIED and len(claim.words) >= FEW_WORDS and (found := substituted(claim, evidence, unseen)):
        yield f"the source does not say “{found}” there"


def _numbers(claim: Analysis, there: Analysis, source: Analysis) -> Iterator[str]:
    found = Numbers(there.numbers)
    for number in claim.numbers:
        if not number.spelled and not found.has(number) and not _in_name(claim.text, number, source):
            yield f"the source does not have the number {number.text}"


def _names(claim: Analysis, source: Analysis, language: str) -> Iterator[str]:
    for name in claim.names(capitals=language == "en"):
        parts = [part for part in re.split("[-/.+_]", name) if part != part.lower()] if len(name) > 3 else []
        if not _named(name, claim, source) and not (parts and all(_named(part, claim, source) for part in parts)):
            yield f"the source does not name “{name}”"


def _in_name(text: str, number: Number, source: Analysis) -> bool:
    """Returns whether the source writes the number as part of the preceding name: BRCA 1, BRCA1."""
    before = text[max(0, number.start - 40) : number.start].split()
    return bool(before) and before[-1] != before[-1].lower() and f"{before[-1].lower()}{number.text}" in source.plain


def _named(name: str, claim: Analysis, source: Analysis) -> bool:
    plain = "".join(char for char in name.lower() if char.isalnum()).removesuffix("s")
    return plain in source.plain or (name.isupper() and (plain in source.initials or plain in claim.initials))


def _opposite(claim: Analysis, evidence: Analysis) -> str:
    mine, theirs = claim.counted, evidence.counted
    for stem, count in mine.items():
        if count > theirs[stem] and any(theirs[other] > mine[other] for other in OPPOSITES.get(stem, ())):
            return f"“{_written(claim, stem)}” where the source says the opposite"
    for token, stem in _stemmed(claim):
        if stem not in evidence.stems and any(
            one in evidence.stems and one not in claim.stems for one in contrary(stem)
        ):
            return f"“{token}” where the source says the opposite"
    for _, stem in _stemmed(evidence):
        if stem not in claim.all_stems and any(
            one in claim.stems and one not in evidence.all_stems for one in contrary(stem)
        ):
            return "the source says the opposite"
    return ""


def _written(text: Analysis, wanted: str) -> str:
    return next(token for token in text.lower if stem_of(token) == wanted)


def _stemmed(text: Analysis) -> Iterator[tuple[str, str]]:
    for word in text.words:
        yield word.text, word.stem


def _denial(claim: Analysis, evidence: Analysis) -> str:
    """Compares the negations of the two, ignoring what the source negates of something else."""
    there = [scope for scope in evidence.denials if scope and 3 * len(scope & claim.stems) >= 2 * len(scope)]
    if len(claim.denials) > len(evidence.denials):
        return "" if evidence.soft_denials - claim.soft_denials else "it denies what the source states"
    if there and not claim.denials:
        return "" if claim.soft_denials - evidence.soft_denials else "the source denies it"
    denied = frozenset[str]().union(*evidence.denials)
    for scope in claim.denials:
        if scope and scope <= evidence.stems and scope.isdisjoint(denied):
            return "it denies something else than the source"
    return ""
