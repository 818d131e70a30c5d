"""Ranks quotable parts by how well they answer a part of a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt

from orchestrator.citations.analysis import WORDS
from orchestrator.citations.candidates import QuotationCandidate, akin, put_differently, terms_of
from orchestrator.citations.document_lines import field_answers, is_asked_byline, only_says_who
from orchestrator.citations.fitting import ASKED_CELL, explains, fits, is_called, is_story, tells_state
from orchestrator.citations.kind_patterns import CASE, EXCEPTION, IN_BRACKETS, MONTH, REASON, RULE, STEP, YEAR
from orchestrator.citations.question import Kind, QuestionPart
from orchestrator.citations.quotable import is_code
from orchestrator.citations.terms import stem, terms

SHARED_WEIGHT, LIKENESS_WEIGHT = 0.55, 0.45
# Weights of a question's term that is put differently, precedes the part, is in its headings, or belongs to another
# part of the question.
RELATED, BEFORE, AROUND, OF_OTHER_PART = 0.75, 0.8, 0.65, 0.35
SUPERSEDED, STILL_HOLDS, REJECTED, REPEATS, ASKS, REFERS_ON, CODE = 0.6, 0.5, 0.75, 0.3, 0.6, 0.6, 0.85
TOLD_AS_PAST, OF_ITSELF = 0.85, 0.75
OF_SOME_CASE, RULES = 0.75, 1.15
MOST_OF_CASE = 3  # terms of a case of which the question names most, if it names the case
DENIED, PLANNED, MOVED = 0.75, 0.8, 1.4
UNDER_ASKED_HEADING, MOST_OF_QUESTION = 1.5, 0.65
BY_HEADING = 0.6  # at most this share of what a part lacks itself is made up for by its heading
# Text under a heading that asks one of these answers only that question.
ASKING_HEADINGS: frozenset[Kind] = frozenset({"reason", "time", "person", "duration", "amount", "frequency"})
OTHER_COLUMN, ASKED_COLUMN = 0.2, 1.8
NAMED, NOT_NAMED = 1.15, 0.7
ONLY_ALIKE = 0.5  # without any word of the question
NOT_ALIKE = 0.8  # relative to the least similar sentence of its passage that the search returned
_OF_LIFE = frozenset(map(stem, WORDS["of a life"]))
_PAST = re.compile(
    rf"\b(?:no longer|formerly|previously|originally|at first|used to|before that|until then|in the past|nicht mehr"
    rf"|früher|ehemals|zuvor|davor)\b"
    rf"|\b(?<!\d )(?:until|till|bis|before)\s(?:the\s|zum\s)?(?:\w+\s){{0,2}}"
    rf"(?:\d|{MONTH}\b|last\b|spring\b|summer\b|autumn\b|winter\b)",
    re.IGNORECASE,
)
_DUE = re.compile(r"\b(?:must|due|ha(?:s|ve) to|muss|müssen|soll|sollen)\b", re.IGNORECASE)
_HISTORY = re.compile(r"\b(?:context|background|history|kontext|hintergrund|geschichte)\b", re.IGNORECASE)
# The replacement of something is what holds now.
_MOVED = re.compile(
    r"\b(?:moved|moves|postponed|shifted|changed|raised|lowered|increased|reduced|verschoben|geändert|erhöht|gesenkt)\b"
    r"[^.;]{0,40}?\b(?:from|von|vom)\b[^.;]{1,40}?\b(?:to|auf|zum)\b",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"\b(?:was|were|war|waren) (?:\w+ )?(?:planned|scheduled|expected|geplant|vorgesehen)\b", re.IGNORECASE
)
_DENIED = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|has|have|will|can) not|neither|never|no longer|nicht mehr|nicht|weder|nie)\b"
    r"(?!.{1,200}\b(?:but|sondern)\b)",  # which says how it is
    re.IGNORECASE | re.DOTALL,
)
_REFERS_ON = re.compile(r"[\W_]*+(?:please )?(?:see|compare|cf|read|siehe|vgl|vergleiche)\b", re.IGNORECASE)
# "This PEP documents the conventions of …" names what is told elsewhere; what it proposes is told here.
_OWN_KIND = r"(?:pep|rfc|adr|document|page|section|chapter|guide|paper|article|report|proposal)"
_OF_ITSELF = re.compile(
    rf"[\W_]*+(?:the (?:aim|goal|purpose|scope|intent) of this {_OWN_KIND}\b"
    rf"|this {_OWN_KIND} (?:documents|describes|explains|covers|discusses|lists|outlines|summari[sz]es|contains)\b"
    r"|dies(?:e|er|es) (?:dokument|seite|abschnitt|kapitel|artikel|bericht) (?:beschreibt|erklärt|behandelt)\b)",
    re.IGNORECASE,
)
_UNREAL = re.compile(r"\A[\W_]*+had \w|\bif\b.{0,80}\bwould have\b", re.IGNORECASE)
_REJECTED = re.compile(r"\b(?:rejected|discarded|withdrawn|would have|verworfen|abgelehnt)\b", re.IGNORECASE)
_ASKS_REJECTED = frozenset(map(stem, ("rejected", "reject", "discarded", "withdrawn", "considered", "alternative")))


def ranked(
    question: Sequence[QuestionPart], candidates: Sequence[QuotationCandidate]
) -> list[list[tuple[float, QuotationCandidate]]]:
    """Returns for each part of the question the candidates that share a word with it or are similar, best first, with
    scores."""
    counted = Counter(term for one in candidates for term in one.own)
    best = max((one.score for one in candidates), default=0.0)
    least = _least_alike(candidates)
    found = []
    for part in question:
        weights = {term: _weight(term, counted, len(candidates)) for term in part.terms | part.around}
        scored = []
        for one in candidates:
            standing = sqrt(max(0.0, one.score) / best) if best > 0 else 1.0
            value = standing * _score(part, one, weights, least.get(one.passage, 0.0))
            if value > 0:
                scored.append((value, one))
        scored.sort(key=lambda pair: (-pair[0], pair[1].passage, pair[1].part.start))
        found.append(scored)
    return found


def _weight(term: str, counted: Counter[str], count: int) -> float:
    return log((count + 1) / (counted[term] + 0.5)) + 0.1


def _least_alike(candidates: Sequence[QuotationCandidate]) -> dict[int, float]:
    least: dict[int, float] = {}
    for one in candidates:
        if one.part.likeness is not None:
            least[one.passage] = min(least.get(one.passage, 1.0), one.part.likeness)
    return least


def _score(question: QuestionPart, one: QuotationCandidate, weights: dict[str, float], least: float) -> float:
    if tells_of_document(question, one):
        return ASKED_CELL
    own = _shared(question, one, weights)
    likeness = one.part.likeness if one.part.likeness is not None else NOT_ALIKE * least * min(1.0, 2 * own)
    lifted = min(own * _under_heading(question, one, weights), own + BY_HEADING * (1 - own))
    value = SHARED_WEIGHT * lifted + LIKENESS_WEIGHT * likeness * (1.0 if own else ONLY_ALIKE)
    of_kind = fits(question, one)
    if of_kind <= 1 and _repeats_title(question, one):
        value *= REPEATS
    return (
        value
        * of_kind
        * _in_time(question, one)
        * _in_general(question, one)
        * _says_something(question, one)
        * _column(question, one)
        * _literally(question, one)
    )


def coverage(question: QuestionPart, candidates: Sequence[QuotationCandidate]) -> float:
    """Returns the largest weighted share of the question's words that a single candidate has."""
    counted = Counter(term for one in candidates for term in one.own)
    weights = {term: _weight(term, counted, len(candidates)) for term in question.terms}
    return max(
        (1.0 if tells_of_document(question, one) else _shared(question, one, weights) for one in candidates),
        default=0.0,
    )


def is_step(text: str) -> bool:
    """Returns whether the text is an instruction."""
    return bool(STEP.search(text))


def gives_reason(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether the part gives a reason, by its words or its heading, and is about what is asked."""
    about = one.own | one.before | one.heading.terms
    known = [term for term in question.terms if term in about or put_differently(question, term, about)]
    if 2 * len(known) < len(question.terms):
        return False
    return explains(question, one) > 1 or bool(REASON.search(one.part.before))


def has_value(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether the part has the number or the person that is asked for; in German, any noun may be a name."""
    if question.kind not in ("amount", "duration", "person") or (question.kind == "person" and question.german):
        return True
    return tells_of_document(question, one) or fits(question, one) >= 1


def tells_of_event(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether the part tells of what the question supposes to have happened, by one of its words, and is about
    what is asked."""
    if not question.deeds or tells_of_document(question, one) or _tells_life(question, one):
        return True
    there = one.own | one.before | one.columns | one.heading.terms
    others = question.terms - question.deeds
    told, about = (
        [term for term in asked if term in there or put_differently(question, term, there)]
        for asked in (question.deeds, others)
    )
    return bool(told) and (len(others) < 2 or 2 * len(about) >= len(others))


def _shared(question: QuestionPart, one: QuotationCandidate, weights: dict[str, float]) -> float:
    """Returns the weighted share of the question's words that occur in the part or around it."""
    own, columns = one.own, one.columns
    nearby = own | columns
    if is_called(question, one):  # all of the document is about it
        nearby |= question.calling
    if tells_state(question, one):
        nearby |= question.states
    if _tells_life(question, one):
        nearby |= _OF_LIFE
    total = value = 0.0
    for term, weight in weights.items():
        weight *= 1.0 if term in question.terms else OF_OTHER_PART
        total += weight
        if term in nearby:
            value += weight
        elif put_differently(question, term, nearby):
            value += RELATED * weight
        elif term in one.before or akin(question, term, one.before):
            value += BEFORE * weight
        elif term in one.heading.terms or akin(question, term, one.heading.terms):
            value += AROUND * weight
    return value / total if total else 0.0


def tells_of_document(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether the part is the line of the named document that says what is asked: its author, its date."""
    names = one.heading.names
    if one.part.is_field:
        return field_answers(question, one.part.columns[0], names) and fits(question, one) >= 1
    return one.heading.begins and not one.part.is_row and is_asked_byline(question, one.part.said, names)


def _tells_life(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether the question asks when somebody was born or died, and the part has both years in brackets."""
    asks = question.kind == "time" and not _OF_LIFE.isdisjoint(question.terms)
    return asks and any(
        len(YEAR.findall(inside)) > 1 and not {"–", "-"}.isdisjoint(inside)
        for inside in IN_BRACKETS.findall(one.part.said)
    )


def _in_time(question: QuestionPart, one: QuotationCandidate) -> float:
    """Returns a factor that lowers outdated facts, unless the question asks for them, and what was rejected."""
    text = one.part.said
    value = 1.0
    if _REJECTED.search(text) and question.terms.isdisjoint(_ASKS_REJECTED) and question.kind != "reason":
        value = REJECTED
    if _PLANNED.search(text):
        value *= PLANNED
    superseded = (bool(_PAST.search(text)) and not _DUE.search(text)) or bool(_HISTORY.search(one.heading.last))
    if question.past:
        return value if superseded else value * STILL_HOLDS
    if question.happened:
        return value
    if question.kind in ("time", "amount", "duration") and _MOVED.search(text):
        return value * MOVED
    if superseded:
        return value * SUPERSEDED
    return value * TOLD_AS_PAST if is_story(text) else value


def _in_general(question: QuestionPart, one: QuotationCandidate) -> float:
    """Returns a factor that raises a rule, and lowers what holds only in a case that the question does not name."""
    if question.kind not in ("amount", "duration", "frequency", "time", "advice"):
        return 1.0
    said = one.part.said
    known = (question.terms | question.around) - one.heading.titled
    case = CASE.match(said)
    # The rest of the sentence has what the rule is about, so only other words can name the case.
    of_case = terms(case[1]) - terms(said[case.end() :]) if case else frozenset()
    named = [term for term in of_case if term in known or put_differently(question, term, known)]
    if named and (len(of_case) > MOST_OF_CASE or 2 * len(named) > len(of_case)):
        return 1.0
    if case or EXCEPTION.search(said):
        return OF_SOME_CASE
    return RULES if RULE.match(said) else 1.0


def _says_something(question: QuestionPart, one: QuotationCandidate) -> float:
    """Returns a factor that lowers parts that only repeat the question or are questions themselves."""
    if one.part.said.rstrip("\"'”’*_ ").endswith("?"):
        return ASKS
    if _REFERS_ON.match(one.part.said) or _UNREAL.search(one.part.said):
        return REFERS_ON
    if question.kind == "manner" and _OF_ITSELF.match(one.part.said):
        return OF_ITSELF
    if not question.denied and _DENIED.search(one.part.said):
        return DENIED
    if is_code(one.part.said):
        return CODE
    if question.kind == "state" and tells_state(question, one):
        return 1.0
    return 1.0 if one.own - question.terms - question.around - one.columns else REPEATS


def _repeats_title(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether it is a field at the head of a document that shares only the title's words with the question.

    `Title: …`, `Status: …` answer who wrote it and when; for other questions only the title makes them similar.
    """
    beyond_title = question.terms - one.heading.terms
    return one.part.is_field and beyond_title.isdisjoint(one.own | one.columns)


def _column(question: QuestionPart, one: QuotationCandidate) -> float:
    """Returns a factor for a row if the question names a column ("calls"), whose cell must then fit the question.

    A field that only says who ("Decided by") is lowered where something else is asked.
    """
    part = one.part
    if part.is_field and only_says_who(question, part.columns[0]):
        return OTHER_COLUMN
    if len(part.columns) < 2 or len(part.columns) != len(part.cells):
        return 1.0
    verbs = {place: terms(name) & question.terms for place, name in enumerate(part.columns) if name}
    named = [place for place, shared in verbs.items() if shared]
    if question.kind != "person" or len(named) != 1 or not named[0]:
        return 1.0
    cell = terms_of(part.cells[named[0]])
    others = question.terms - terms(part.columns[named[0]])
    return ASKED_COLUMN if any(one in cell or put_differently(question, one, cell) for one in others) else OTHER_COLUMN


def _under_heading(question: QuestionPart, one: QuotationCandidate, weights: dict[str, float]) -> float:
    """Returns a factor that raises parts whose headings have most of what is asked: "How it was ended".

    It supplies only what the sentence itself lacks; a sentence that has everything gains nothing.
    """
    if one.heading.asks in ASKING_HEADINGS and one.heading.asks != question.kind:
        return 1.0
    # "Which incident …" asks for a document, so its title counts as a heading.
    heading = one.heading.terms if question.kind == "name" else one.heading.own
    own = {term for term in question.terms if term in heading or put_differently(question, term, heading)}
    if not own:
        return 1.0
    beside = {term for term in question.terms if term in one.heading.terms}
    total = sum(weights[term] for term in question.terms)
    return UNDER_ASKED_HEADING if sum(weights[term] for term in own | beside) >= MOST_OF_QUESTION * total else 1.0


def _literally(question: QuestionPart, one: QuotationCandidate) -> float:
    """Returns a factor that lowers parts without an identifier or symbol of the question: INC-112, `//`, str.lstrip."""
    if not question.literals:
        return 1.0
    there = f"{one.part.said} {one.part.before} {one.heading.title} {one.heading.section}".casefold()
    return NAMED if all(literal in there for literal in question.literals) else NOT_NAMED
