"""Replaces sentences that their sources contradict with sentences that a model has rewritten."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.citations.assess import examine
from orchestrator.citations.check import check
from orchestrator.citations.claims import AnswerSentence
from orchestrator.citations.second_look import evidence
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import unmarked
from orchestrator.citations.terms import terms
from orchestrator.citations.writing import Assessed
from service_kit.sentences import sentences

MOST_REWRITTEN = 8
LONGEST_REWRITTEN = 600
_NUMBERED = re.compile(r"\s{0,8}(?:\*\*)?(\d{1,2})[.):]\s{1,8}(\S.*)")


@dataclass(frozen=True)
class Contradiction:
    """A sentence of an answer, by its index in `Assessed.sentences`, with what its source says instead."""

    at: int
    said: str
    reason: str
    evidence: str


def contradictions(assessed: Assessed, sources: Sequence[SourceText]) -> list[Contradiction]:
    """Returns the sentences to rewrite: no table rows, and at most MOST_REWRITTEN."""
    found = []
    for at, sentence in enumerate(assessed.sentences):
        text = assessed.content[sentence.start : sentence.end]
        if sentence.status == "contradicted" and sentence.passage and not text.startswith("|"):
            said = unmarked(text)
            source = sources[sentence.passage - 1]
            found.append(Contradiction(at, said, sentence.reason, evidence(said, source)))
    return found[:MOST_REWRITTEN]


def read_numbered(text: str, wanted: Sequence[Contradiction]) -> dict[int, str]:
    """Returns the lines `1. …` of a model's answer, by the index of the sentence that each is for."""
    found: dict[int, str] = {}
    for line in text.splitlines():
        match = _NUMBERED.match(line[: 2 * LONGEST_REWRITTEN])
        if match and 1 <= int(match[1]) <= len(wanted):
            found.setdefault(wanted[int(match[1]) - 1].at, match[2].strip())
    return found


def rewritten(assessed: Assessed, new: Mapping[int, str], sources: Sequence[SourceText]) -> tuple[str, dict[str, str]]:
    """Returns the answer with the new sentences that their sources verify, and the sentence that each replaces.

    Sentences that repeat the answer are not used.
    """
    pieces: list[str] = []
    instead: dict[str, str] = {}
    end = 0
    for at, sentence in enumerate(assessed.sentences):
        text = _fitting(new[at], sources) if at in new else ""
        if not text or text in instead or text.rstrip(".!") in assessed.content:
            continue
        old = assessed.content[sentence.start : sentence.end]
        mark = old[: len(old) - len(unmarked(old))]
        pieces += [assessed.content[end : sentence.start], mark, text]
        instead[text] = unmarked(old)
        end = sentence.end
    return "".join([*pieces, assessed.content[end:]]), instead


def _fitting(text: str, sources: Sequence[SourceText]) -> str:
    """Returns the sentence without markers if it is acceptable; otherwise nothing."""
    text = check(text, [], []).content.strip()
    unbalanced = text.count("`") % 2 or text.count('"') % 2 or text.count("“") != text.count("”")
    if len(text) > LONGEST_REWRITTEN or not terms(text) or unbalanced or text.startswith(("#", "|", ">")):
        return ""
    if len(sentences(text)) != 1:
        return ""
    verified = examine(AnswerSentence(0, len(text), text), [], sources).status == "verified"
    return text if verified else ""
