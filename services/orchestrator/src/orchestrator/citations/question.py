"""Analyses a question: its parts, the kind of answer that each expects, and whether it asks about the past."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal

from orchestrator.citations.analysis import WORDS
from orchestrator.citations.terms import stem, terms
from relevance.designators import Designator, designators
from relevance.german import is_german

Kind = Literal[
    "person",
    "time",
    "duration",
    "amount",
    "frequency",
    "reason",
    "outcome",
    "meaning",
    "step",
    "manner",
    "name",
    "role",
    "state",
    "advice",
    "cost",
    "",
]

# The kind by a part's first words; the first match counts if several begin at the same word.
_WORDS: Sequence[tuple[Kind, str]] = (
    ("frequency", "how often|how frequently|wie oft|wie häufig"),
    (
        "duration",
        "how (?:long|fast|quickly|old)|for how long|what duration|wie (?:lange?|schnell|alt)"
        "|(?:what (?:is|was) the|(?:was|wie) (?:ist|war) die)"
        " (?:lifetime|duration|validity|lebensdauer|gültigkeitsdauer)",
    ),
    (
        "amount",
        "how (?:many|much|large|big|small|high|tall|deep|wide|heavy|far|expensive)|(?:which|what) (?:share|percentage)"
        "|what (?:is|was) the (?:(?:maximum|minimum|highest|lowest|total|average|usual|recommended) (?:\\w+ )?)?"
        "(?:price|cost|number|height|distance|population|length|size|width|weight|limit)"
        "|(?:which|what) (?:\\w+ )?(?:length|size|width|weight)"
        "|wie ?(?:viele?|groß|klein|hoch|tief|breit|schwer|weit|teuer)|was koste(?:n|t|ten?)",
    ),
    (
        "time",
        "when|(?:what|which) (?:date|time|day|month|year)|what (?:is|was) the (?:date|deadline)|wann"
        "|welche[rsnm]? (?:datum|tag|monat|jahr)|um wie ?viel uhr",
    ),
    (
        "advice",
        "^(?:should|shall|may|must|can (?:i|we|you|one)|is it (?:ok|okay|allowed|better|recommended)|soll(?:te)?n?|darf"
        "|dürfen|muss|müssen|kann (?:ich|man)|braucht man|brauche ich)"
        "|(?:what|which) (?:is|are) the (?:recommended|preferred|suggested|best|right|correct|proper)",
    ),
    ("reason", "why|what (?:was|is) the (?:reason|cause)|what caused|warum|wieso|weshalb"),
    ("person", "who|whom|whose|wer|wem|wen"),
    (
        "outcome",
        "what (?:happens|follows|will happen)|what if"
        "|(?:was|wie) (?:passiert|geschieht|gilt),? (?:wenn|falls|sobald|bei)",
    ),
    (
        "step",
        "what (?:should|must|do|can) (?:i|we|you|one)|how (?:do|can|should) (?:i|we|you|one)"
        "|what helps|was (?:tun|soll|hilft)|wie \\w{3,20} (?:ich|man|wir)",
    ),
    (
        "manner",
        "how (?:is|are|was|were|does|do|did|has|have)"
        "|wie (?:wird|werden|wurden?|ist|sind|war|waren|funktionier(?:t|en))",
    ),
    ("cost", r"what (?:do|does|did) .{1,80} cost"),
    ("role", r"what (?:does|do) .{1,60} do|was (?:macht|tut)"),
    ("meaning", "what (?:is|are)|what does .{1,60} mean|was (?:ist|sind|bedeutet)"),
    ("name", "which|where|what|welche[rsnm]?|wo(?:von|mit|her|hin|zu)?|was"),
)
_KINDS = [(kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _WORDS]
# "Is it still active?" asks for the state of something, whatever state it names.
_STATES = (
    r"active|in force|accepted|approved|adopted|rejected|withdrawn|superseded|deprecated|obsolete|draft|final"
    r"|resolved|closed|open"
    r"|aktiv|in kraft|angenommen|genehmigt|abgelehnt|zurückgezogen|ersetzt|veraltet|entwurf|gelöst|geschlossen|offen"
)
_ASKS_STATE = re.compile(
    rf"^\W*(?:is|are|was|were|has|have|ist|sind|wurden?|hat|haben)\b[^?]*\b(?:{_STATES})\W*$", re.IGNORECASE
)
_STATE = re.compile(rf"\b(?:{_STATES})\b", re.IGNORECASE)
_ASKS = (
    r"(?:for |since |until |from |by |in )?(?:how|who|whom|whose|when|where|why|what|which"
    r"|wie|wer|wem|wen|wann|wo(?:von|mit|her|hin|zu)?|warum|was|welche[rsnm]?)\b"
)
_PARTS = re.compile(rf"(?<=\?)\s+|,?\s(?:and|und)\s(?={_ASKS})|[,;]\s(?={_ASKS})", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:before|previous|previously|former|formerly|used to|earlier|originally|at first|until|till|in the past|so far"
    r"|vorher|früher|zuvor|ehemals?|bis)\b",
    re.IGNORECASE,
)
_UNTIL_ASKED = re.compile(r"\b(?:until|till|by) when\b|\bbis wann\b", re.IGNORECASE)
_HAPPENED = re.compile(r"\b(?:was|were|did|had|wurden?|war|waren|hatten?)\b", re.IGNORECASE)
_DEED = re.compile(
    r"\b(?:did|do|does|has|have|had|will|wurden?|wird|werden|hat|haben|hatten?|\w{3,30}ed|ge\w{2,30}(?:t|en))\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"^\W*(?:which|what|who are|welche|wer sind)\b(?: \w+){0,2}? (?:are|do|need|have|\w{3,}s)\b"
    r"|^\W*(?:what|who) (?:does|do|calls?|uses?|needs?|depends?|reads?|writes?)\b"
    r"|^\W*(?:wovon|woraus|was (?:braucht|benötigt|nutzt|verwendet|ruft|liest)|wer (?:nutzt|verwendet|ruft|braucht))\b",
    re.IGNORECASE,
)
_ARE = re.compile(r"^\W*what are (?!(?:the|our|your|its|their|all|some)\b)", re.IGNORECASE)  # means one term
_DENIED = re.compile(
    r"\b(?:not|nothing|nobody|no|never|neither|without|cannot|nicht|nichts|niemand|keine?|nie|ohne)\b|n['’]t\b"
    r"|^\W*(?:do|does|did|is|are|was|were|has|have|can|could|may|must|should|will|ist|sind|hat|haben|kann|darf|muss"
    r"|gibt|hilft)\b",
    re.IGNORECASE,
)
# What an event is told by: "was … rejected", "did … leave", "who stole", "wurde … entlassen".
_PASSIVE = re.compile(
    r"\b(?:was|were|been)\b[^?]{0,80}?\b(?P<deed>[a-z]{2,20}(?:ed|wn|rn|ught|old|ost|elt|ept|ade|aid|uilt|tten|sen|len"
    r"|ken|ven|zen|den))\b|\b(?:wurden?|worden|hat|haben|hatten?|ist|sind)\b[^?]{0,120}\b(?P<tat>[a-zäöüß]{4,30}(?:t|en))\W*$"
)
_DID = re.compile(r"\bdid\b(?P<deed>[^?]{1,200})")
_WHO_DID = re.compile(
    r"^\W*[Ww]ho (?P<deed>"
    r"(?!(?:was|were|is|are|did|do|has|have|had|will|would|can|could|should|may|might|must|shall)\b)[a-z]{2,30}(?<!s)) "
)
_NEGATED = re.compile(r"\b(?:not|never|nobody|nicht|nie|niemand|keine?[mnrs]?)\b|n['’]t\b", re.IGNORECASE)
_SMALL = re.compile(r"(?<![\w-])[a-zäöüß]{2,40}(?![\w-])")
_LITERAL = re.compile(
    r"(?<![\w-])[^\W\d_]{1,20}-?\d[\w.-]{0,30}\b|(?<!\S)[^\w\s\"'?!.,;:()]{2,8}(?![^\s?.,])|\b[^\W_]{1,30}(?:[._/][^\W_]{1,30}){1,9}\b"
)
# "Wie schaltet man die Heizung ein?" is about "einschalten".
_SEPARATED = re.compile(
    r"^\W*(?P<asks>(?:[Ww]ie|[Ww]ann|[Ww]arum|[Ww]ieso|[Ww]eshalb|[Ww]er|[Ww]o|[Ww]omit|[Ww]as)) "
    r"(?P<verb>[a-zäöüß]{3,20}) (?P<rest>[^?]{1,200}) (?P<prefix>ein|aus|an|ab|auf|um|zu|vor|nach|mit|weg|zurück|fest"
    r"|los|her|hin)\W*$"
)
# "Explain access tokens" is about access tokens, not about explaining.
_DEMAND = re.compile(
    r"^\W*(?:(?:please|bitte|(?:can|could|would) you|(?:kannst|könntest) du(?: mir)?) )?"
    r"(?:explain|describe|summari[sz]e|tell me (?:more )?about|erkläre?(?: mir)?|beschreibe?(?: mir)?)\b",
    re.IGNORECASE,
)
_ANSWERS = re.compile(r"\banswer(?:s|ed|ing)?\b", re.IGNORECASE)
_ANSWER = frozenset({stem("answer")})
_OF_DATES = frozenset(map(stem, WORDS["takes place"] + WORDS["makes a document"]))
_DOES = frozenset(map(stem, ["use", "make", "take", "verwenden", "benutzen", "nutzen", "machen", "nehmen"]))
_NO_TERMS = frozenset(map(stem, WORDS["only ask"]))


@dataclass(frozen=True)
class QuestionPart:
    """One part of a question. `terms` are its own, `around` those of the other parts, which are its context.

    `past`: it asks for what no longer holds; `happened`: for an event; `deed`: for what somebody did; `several`: for a
    list. `denied`: a negation may answer it, since it asks for one, for a reason, or whether something is so.
    `literals` are names with digits or symbols, which cannot be paraphrased. `states` are the terms of the states that
    it names ("active"), `called` the documents that it calls by a designator, and `calling` the terms of these.
    `deeds` are the words for what it supposes to have happened: a text without any of them does not tell of it.
    """

    kind: Kind
    terms: frozenset[str]
    around: frozenset[str] = frozenset()
    past: bool = False
    happened: bool = False
    deed: bool = False
    several: bool = False
    denied: bool = False
    literals: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    called: frozenset[Designator] = frozenset()
    calling: frozenset[str] = frozenset()
    deeds: frozenset[str] = frozenset()
    german: bool = False


def parts_of(question: str) -> list[QuestionPart]:
    """Returns the parts of the question, at least one."""
    texts = [text for part in _PARTS.split(question) if (text := part.strip(" ,;"))] or [question]
    found = [_question_part(text) for text in texts]
    # "…, and why?" has no words of its own: it is about the previous part.
    return [
        replace(
            one,
            terms=one.terms or frozenset().union(*(other.terms for other in found)),
            around=frozenset().union(*(other.terms for other in found)) - one.terms,
            literals=frozenset().union(*(other.literals for other in found)),
            happened=any(other.happened for other in found),
        )
        for one in found
    ]


def question_terms(text: str) -> frozenset[str]:
    """Returns the terms of a question or of a possible answer, where "does not answer" counts."""
    return terms(text) | (_ANSWER if _ANSWERS.search(text) else frozenset())


def kind_of(text: str) -> Kind:
    """Returns the kind of answer that the first question word of a question or heading asks for."""
    found = ((match.start(), place) for place, (_, pattern) in enumerate(_KINDS) if (match := pattern.search(text)))
    first = min(found, default=None)
    return _KINDS[first[1]][0] if first else ""


def _question_part(text: str) -> QuestionPart:
    text = _SEPARATED.sub(r"\g<asks> \g<prefix>\g<verb> \g<rest>", text)
    text, demands = _DEMAND.subn("", text)
    kind: Kind = "state" if _ASKS_STATE.search(text) else kind_of(text) or ("meaning" if demands else "")
    own = question_terms(text) - _NO_TERMS
    own = own - _DOES if kind == "advice" and own - _DOES else own
    called = designators(text)
    calling = {part for designator in called for part in designator}
    past = bool(_PAST.search(_UNTIL_ASKED.sub("", text)))
    return QuestionPart(
        kind,
        own,
        past=past,
        happened=bool(_HAPPENED.search(text)),
        deed=bool(_DEED.search(text)),
        several=kind not in ("outcome", "cost") and bool(_SEVERAL.search(text)) and not _ARE.search(text),
        denied=kind in ("reason", "step") or bool(_DENIED.search(text)),
        literals=frozenset(match[0].casefold() for match in _LITERAL.finditer(text)),
        states=terms(" ".join(_STATE.findall(text))) if kind == "state" else frozenset(),
        called=called,
        deeds=_deeds(text),
        german=is_german(text),
        calling=frozenset(term for term in own if term in calling or term.lstrip("0") in calling),
    )


def _deeds(text: str) -> frozenset[str]:
    """Returns the terms for the supposed event; none if the question is not about one, or denies it."""
    if _NEGATED.search(text):
        return frozenset()
    for pattern in (_PASSIVE, _WHO_DID, _DID):
        if found := pattern.search(text):
            words = " ".join(_SMALL.findall(next(filter(None, found.groups()))))
            return terms(words) - _NO_TERMS - _OF_DATES
    return frozenset()


def _related() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name in ("asked.txt", "synonyms.txt", "irregular_verbs.txt"):
        for line in files("orchestrator.citations").joinpath(name).read_text("utf-8").splitlines():
            group = {stem(word) for word in line.split()}
            for word in group:
                found.setdefault(word, set()).update(group)
    return {word: frozenset(others) for word, others in found.items()}


RELATED_WORDS = _related()
