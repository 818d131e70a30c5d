"""Questions that a fact answers by itself: where do I live, who led Atlas in May, which database do we use. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.facts.dates import resolved
from memory.facts.language import is_german
from memory.facts.rules import ONE_VALUE, statements
from memory.facts.statements import DATES, DECIDED, USER
from memory.facts.things import USED, predicate_of

_WHOM = r"(?P<who>i|ich|my [\w-]+(?: [\w-]+)?|mein(?:e)? [\w-]+|(?-i:[A-ZÄÖÜ][\w-]*(?: [A-ZÄÖÜ][\w-]*)?)|he|she|er|sie)"
_WHAT = r"(?P<who>\S[^?]*)"
_NOW = r"(?:(?:now|currently|jetzt|derzeit|aktuell|then|damals) )?"
_LEADS, _OWNS, _ANSWERS_FOR = ("lead", "manager"), ("owner", "responsible"), ("responsible", "owner", "lead")
_QUESTIONS = [
    (re.compile(pattern.replace("WHOM", _WHOM).replace("WHAT", _WHAT).replace("NOW", _NOW), re.IGNORECASE), predicates)
    for pattern, predicates in (
        (r"(?:where|in which city|in what city) (?:do|does|did|will) WHOM NOWlive\b", ("lives in",)),
        (r"(?:wo|in welcher stadt) (?:wohne|wohnte|lebe|lebte|wohnt|lebt|habe|hat) WHOM\b", ("lives in",)),
        (r"where (?:do|does|did) WHOM NOWwork\b", ("works at",)),
        (r"(?:who|which company|what company) (?:do|does|did) WHOM work (?:for|at)\b", ("works at",)),
        (r"(?:wo|bei wem|für wen) (?:arbeite|arbeitet|arbeitete) WHOM\b", ("works at",)),
        (r"what (?:do|does|did) WHOM do for a living\b", ("job",)),
        (r"how old (?:am|is|was) WHOM\b", ("age",)),
        (r"wie alt (?:bin|ist|war) WHOM\b", ("age",)),
        (r"what (?:do|does|did) WHOM NOW(?:like|prefer|love|enjoy)\b(?! to\b)", ("likes",)),
        (r"wie (?:heiße|heißt) WHOM\b", ("name",)),
        (r"wie (?:heißt|hieß) (?P<who>(?:unser|unsere|das|der|die) [^?]{1,80})", ("name",)),
        (r"what (?:is|was|are) (?P<who>[^?]{1,80}?) NOWcalled", ("name",)),
        (r"when (?:do|does|did|will) (?P<who>[^?]{1,80}?) (?:leave|depart|start|begin|take place)", ("date",)),
        (r"wofür (?:haben|habe|hatten) (?P<who>wir|ich) (?:uns|mich)(?P<topic>) entschieden", (DECIDED,)),
        (r"who (?:do|does|did) WHOM NOWreport to\b", ("boss", "manager")),
        (r"who NOW(?:leads|led|runs|ran|heads|headed|manages|managed|(?:is|was) NOWleading) WHAT", _LEADS),
        (r"who (?:is|was) (?P<who>[^?]{1,80}?) NOW(?:led|headed|managed|run) by", _LEADS),
        (r"wer (?:leitet|leitete|führt|führte) WHAT", _LEADS),
        (r"wer hat WHAT geleitet", _LEADS),
        (r"von wem (?:wird|wurde) WHAT geleitet", _LEADS),
        (r"who NOW(?:owns|owned) WHAT", _OWNS),
        (r"(?:to whom|who) (?:do|does|did) (?P<who>[^?]{1,80}?) NOWbelong", _OWNS),
        (r"wem gehörte? WHAT", _OWNS),
        (r"wer (?:besitzt|besaß) WHAT", _OWNS),
        (r"who (?:is|was) NOW(?:responsible for|in charge of|accountable for) WHAT", _ANSWERS_FOR),
        (r"wer (?:ist|war) NOW(?:verantwortlich|zuständig) für WHAT", _ANSWERS_FOR),
        (r"wer (?:ist|war) NOWfür WHAT (?:verantwortlich|zuständig)", _ANSWERS_FOR),
        (r"(?:in )?(?:which|what) language (?:is|are|was) WHAT (?:written|implemented)", ("programming language",)),
        (r"what (?:is|are|was) (?P<who>[^?]{1,80}?) (?:written|implemented) in", ("programming language",)),
        (r"what (?:do|does|did) (?P<who>[^?]{1,80}?) NOWdepend on", ("depends on",)),
        (r"(?:by )?when (?:is|are|was|were) (?P<who>[^?]{1,80}?) due", ("deadline",)),
        (r"(?:bis )?wann (?:ist|war|sind) (?P<who>[^?]{1,80}?) fällig", ("deadline",)),
        (r"what (?:did|have) (?P<who>we|i) (?:decided?|agreed?|chosen?)\b(?P<topic>[^?]*)", (DECIDED,)),
        (r"was (?:haben|habe) (?P<who>wir|ich) (?P<topic>[^?]*?)(?:entschieden|beschlossen|vereinbart)", (DECIDED,)),
    )
]
_USE = r"verwende(?:n|t|ten|te)|(?:be)?nutz(?:en|t|ten|te)"
_KINDS_USED = [
    re.compile(pattern.replace("NOW", _NOW), re.IGNORECASE)
    for pattern in (
        r"(?:which|what) (?P<kind>[\w-]+(?: [\w-]+)?) (?:do|does|did) (?P<who>[^?]{1,80}?) NOW(?:use|run on|have)\b",
        r"(?:which|what) (?P<kind>[\w-]+(?: [\w-]+)?) (?:is|are|was|were) (?P<who>[^?]{1,80}?) NOW(?:using|running)\b",
        r"what (?:do|does|did) (?P<who>[^?]{1,80}?) NOWuse (?:as|for) (?:our |the )?(?P<kind>[\w-]+(?: [\w-]+)?)",
        rf"welche[rns]? (?P<kind>[\w-]+) (?:{_USE}|haben|hatten|hat|hatte) NOW(?P<who>[^?]{{1,80}})",
        rf"was (?:{_USE}) NOW(?P<who>[^?]{{1,80}}?) als (?P<kind>[\w-]+)",
        r"what (?:do|does|did) (?P<who>[^?]{1,80}?) NOW(?:use|run on)(?P<kind>)(?=\s*\?|$)",
    )
]
_ATTRIBUTE = re.compile(
    r"(?i)(?:what|who|when|which|wann|was|wer|wie) (?:is|are|was|were|ist|sind|war|lautet) "
    r"(?P<who>my [\w-]+'s|my|mein|meine|our|unser|unsere|the|der|die|das|(?:[\w-]+ )?[\w-]+'s) "
    r"(?P<noun>[\w-]+(?: (?!in |on |at |of |for |von |für |im |am |last |before |during |since )[\w-]+(?= |\?|$))?)"
    r"(?: (?:of|for|von|für) (?:(?:the|der|die|das|den|dem) )?(?P<of>[\w-]+(?: (?!in |on |at )[\w-]+){0,3}))?"
)
_PRONOUNS = frozenset({"it", "this", "that", "he", "she", "es", "er", "sie", "das"})
_ARTICLE = re.compile(r"(?i)(?:the|der|die|das|den|dem|our|unser|unsere|unseren) (?=\S)")
_LEFT = re.compile(
    r"(?i)(?:[\s,]{1,3}(?:now|currently|then|today|nowadays|at the moment|jetzt|derzeit|aktuell|damals|heute|verwendet"
    r"|benutzt|genutzt|eingesetzt)){1,8}$"
)


@dataclass(frozen=True)
class FactQuestion:
    """A question about the object of a subject and predicate at a time. `past`: the time was named, and is over.

    The first of the `predicates` that has an answer counts; `noun` is the question's own word for it. Of decisions,
    only those about the `topic` answer.
    """

    subject: str
    predicates: tuple[str, ...]
    noun: str
    as_of: datetime
    past: bool
    phrase: str | None
    german: bool = False
    topic: str = ""

    @property
    def owned(self) -> str | None:
        """Returns what a name may follow: "my brother" can also be called "my brother Max"."""
        return f"{self.subject} " if self.subject.startswith(f"{USER}'s ") else None

    @property
    def named(self) -> str | None:
        """Returns the name by which someone close to the user is asked about: Laura may be "my sister Laura"."""
        return self.subject if self.subject[:1].isupper() and self.subject.isalpha() else None

    @property
    def about_user(self) -> bool:
        """Returns whether it is about the user, or about someone close, such as the user's sister."""
        return self.subject == USER or self.subject.startswith(f"{USER}'s ")


def fact_question(question: str, now: datetime, time_zone: str, before: str = "") -> FactQuestion | None:
    """Returns what the question asks of the facts; None if it asks something else.

    `before` is what was said before it, which tells whom "it" and "she" mean.
    """
    fact_asked = _question(question, now, time_zone)
    if fact_asked is None:
        return None
    if fact_asked.subject.casefold() in _PRONOUNS:
        meant = _meant(before, now, time_zone)
        if meant is None or meant.casefold() in _PRONOUNS:
            return None
        fact_asked = replace(fact_asked, subject=meant)
    return replace(fact_asked, german=is_german(question))


def _meant(before: str, now: datetime, time_zone: str) -> str | None:
    """Returns whom the message before was about."""
    if fact_asked := _question(before, now, time_zone):
        return fact_asked.subject
    stated = [one.subject for one in statements(before, now, time_zone) if one.subject not in (None, USER, "we")]
    return stated[-1] if stated else None


def _question(question: str, now: datetime, time_zone: str) -> FactQuestion | None:
    text = " ".join(question.split())
    when = resolved(text, now, time_zone)
    as_of, past = now, False
    if when is not None:
        # "In May" means the end of May, or now if May is not over.
        as_of = min(when.end - timedelta(microseconds=1), now) if when.start <= now else when.start
        past = when.end <= now
    phrase = when.phrase if when is not None else None
    times = (as_of, past, phrase)
    if phrase is not None:
        text = f"{text[: when.first]}{text[when.last :]}" if when else text
        text = " ".join(text.split()).replace(" ?", "?")
    for pattern, predicates in _QUESTIONS:
        if found := pattern.match(text):
            topic, subject = found.groupdict().get("topic") or "", _subject(found["who"])
            if predicates == ("name",) and subject == "we":
                subject = _ARTICLE.sub("", found["who"].strip(" .?!"), count=1)  # the team itself is asked about
            return FactQuestion(subject, predicates, predicates[0], *times, topic=topic)
    for pattern in _KINDS_USED:
        if found := pattern.match(text):
            subject, noun = _subject(found["who"]), found["kind"].lower()
            predicate = predicate_of(noun, subject)
            asked_predicates = ("uses", *sorted(USED - {"uses"})) if not noun else (predicate,)
            return FactQuestion(subject, asked_predicates, noun or "uses", *times)
    if found := _ATTRIBUTE.match(text):
        return FactQuestion(*_attribute(found, text), *times)
    return None


def _attribute(found: re.Match[str], text: str) -> tuple[str, tuple[str, ...], str]:
    """Returns subject, predicates and noun of "what is my sister's name" or "when is the offsite"."""
    noun, who = found["noun"].lower().rstrip("?"), found["who"].lower()
    if who in ("my", "mein", "meine"):
        subject = USER
    elif who.endswith("'s"):
        subject = _subject(found["who"][:-2])
    elif not found["of"] and noun not in ONE_VALUE and text.lower().startswith(("when ", "wann ")):
        return found["noun"].rstrip("?"), DATES, "date"
    else:
        subject = _subject(found["of"]) if found["of"] else "we"
    return subject, (predicate_of(noun, subject),), noun


def _subject(who: str) -> str:
    who = _LEFT.sub("", who.strip(" ,.?!"))
    lowered = who.lower()
    if lowered in ("i", "ich"):
        return USER
    if lowered in ("we", "us", "wir", "uns", "our team", "unser team"):
        return "we"
    first, _, rest = who.partition(" ")
    if rest and first.lower() in ("my", "mein", "meine"):
        return f"{USER}'s {rest}"
    return _ARTICLE.sub("", who, count=1)
