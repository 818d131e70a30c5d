"""Rules that read statements from English and German clauses: about people, decisions, deadlines, style.

The sentence says whom it is about: "I" is the speaker, "my sister" the speaker's sister, "Anna" is Anna. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files
from typing import cast

from contracts.memory import MemoryKind
from memory.facts.clauses import clauses
from memory.facts.dates import ResolvedTime, resolved
from memory.facts.moments import is_moment
from memory.facts.statements import DECIDED, PLANS, TIMES, USER, StatedFact, Values
from memory.facts.style import styled
from memory.facts.things import (
    OF,
    PREPOSITIONS,
    USED,
    USES,
    counted,
    is_date_noun,
    kind_of,
    number_of,
    of_team,
    predicate_of,
    with_preposition,
)
from memory.facts.values import ONE_VALUE, PEOPLE, is_value

_WHO = (
    r"(?P<who>i|we|ich|wir|(?:my|our|mein|meine|unser|unsere|the|der|die|das) [\w-]+"
    r"(?: (?!is |was |are |were |has |will |ist |wurde |wird )[\w-]+)?"
    r"|(?-i:[A-ZÄÖÜ][\w-]*(?: (?!I )[A-ZÄÖÜ][\w-]*)?)|it(?= ))"
)
_ADV = (
    r"(?:(?:now|currently|still|just|recently|finally|also|really|actually|already|happily|both|have|has|had|will|jetzt"
    r"|gerade|noch|auch|seit kurzem|mittlerweile|inzwischen|wirklich|sehr|gern|gerne|aktuell|derzeit|endlich"
    r"|nun|zurzeit|momentan|weiter|weiterhin) )*"
)
_REST = r"(?P<object>\S.*)"
_CALLED = r"(?P<object>(?!(?:the|an?|my|our|this|that|some|it) (?-i:[a-z]))\S.*)"
_PERSONS = (
    r"(?:(?:my|our|mein|meine|unser|unsere|the|die|der) [\w-]+|me|i|ich|mir|us|uns"
    r"|(?-i:[A-ZÄÖÜ][\w.-]*(?: [A-ZÄÖÜ][\w-]*){0,2}))"
)
_NAMED = r"(?:the |our |a |an |unser |unsere |das |die |den )?(?-i:[A-ZÄÖÜ\d])"
_PROJECT = (
    r"(?P<who>(?:(?:the|our|my|das|die|der|den|dem|unser|unsere|mein|meine) )?"
    r"(?:(?:project|projekt|team|service|dienst) )?"
    r"(?-i:[A-ZÄÖÜ][\w-]*)(?: [\w-]+){0,4}"
    r"|(?:the|our) [\w-]+(?: [\w-]+)? "
    r"(?:team|project|service|group|department|initiative|migration|rollout|release|launch|roadmap|platform|product"
    r"|website|pipeline|integration|campaign|onboarding|infrastructure|backlog|component|module|interface|report)"
    r"|it|this|that|es|das)(?=[.,!;]| |$)"
)
NUMBER, PLACE = "NUMBER", "place"
_ROLES = (
    r"(?:[\w-]+ )?(?:lead|leader|head|owner|manager|director|maintainer|chair|sponsor|architect|administrator|admin"
    r"|coordinator"
    r"|spokesperson|secretary|treasurer|accountant|lawyer|contact)|[a-z]to|c[a-z]o|(?:[\w-]+)?leiter(?:in)?|leitung"
    r"|geschäftsführer(?:in)?|eigentümer(?:in)?|ansprechpartner(?:in)?|vorsitzende[r]?|architekt(?:in)?"
)
_REVISING = (
    r"(?P<revises>(?:we|i) (?:have )?changed (?:our|my) minds?(?: (?:about|on) (?:it|that|this))?(?:,| and) "
    r"|(?:wir|ich) (?:haben|habe) (?:es )?(?:uns|mir) (?:es )?anders überlegt(?:,| und) )?"
)
_OWN = r"(?P<who>my [\w-]+'s|my|our|mein|meine|unser|unsere|the|der|die|das|(?:[\w-]+ )?[\w-]+'s)"
_NOUN = rf"(?P<noun>[\w-]+(?: (?!is |are |ist |{PREPOSITIONS} )[\w-]+)?)"
_OF = rf"(?: (?P<by>{PREPOSITIONS}) (?P<of>\S+(?: \S+){{0,3}}?))?"
_EVENT = (
    r"(?P<who>(?:(?:(?:my|our|the|meine?|unsere?|der|die|das) |(?=(?-i:[A-ZÄÖÜ]))(?!(?:i|we|he"
    r"|she|they|you|ich|wir|sie|du|ihr)\b))[\w-]+(?: [\w-]+)?"
    rf"(?: (?:{PREPOSITIONS}|to|nach) [\w-]+(?: [\w-]+)?)?|it(?= )))"
)
_PARTS = {
    "REVISING": _REVISING,
    "MEETING": r"(?:(?:after|at|during|following|yesterday|today|last) (?:\S+ ){0,6}?)?",
    "PERSONS": _PERSONS,
    "PERSON": rf"(?P<object>{_PERSONS})",
    "PROJECT": _PROJECT,
    "NAMED": _NAMED,
    "THING": rf"{_NAMED}\S*",
    "ROLES": _ROLES,
    "WHO": _WHO,
    "EVENT": _EVENT,
    "ADV": _ADV,
    "REST": _REST,
    "CALLED": _CALLED,
    "HOUSE": r"(?:office|headquarters|hq|studio|shop|store|warehouse|lab|workshop|factory|plant|branch|archive|desks?)",
}


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    predicate: str
    values: Values = "many"
    kind: MemoryKind = MemoryKind.fact
    over: bool = False
    past: bool = False
    ahead: bool = False
    planned: bool = False
    turned: bool = False
    timed: bool = False


def _read_rules() -> Iterator[tuple[str, Values, frozenset[str], str]]:
    """Yields predicate, values, marks and pattern of each rule in `rules.txt`, in order."""
    for line in files("memory.facts").joinpath("rules.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            predicate, values, marks, pattern = (part.strip() for part in line.split("|", 3))
            for name, part in _PARTS.items():
                pattern = pattern.replace(name, part)
            yield predicate, cast(Values, values), frozenset(marks.split()), pattern


RULES = tuple(
    _Rule(
        re.compile(pattern, re.IGNORECASE),
        predicate,
        values,
        next((kind for kind in MemoryKind if kind.value in marks), MemoryKind.fact),
        over="over" in marks,
        past="past" in marks,
        ahead="ahead" in marks,
        planned="planned" in marks,
        turned="turned" in marks,
        timed="timed" in marks,
    )
    for predicate, values, marks, pattern in _read_rules()
)
_ATTRIBUTE = re.compile(
    rf"{_OWN} {_NOUN}{_OF} (?P<verb>is|are|ist|sind|lautet|beträgt|betragen|liegt bei|amounts to) "
    r"(?P<now>(?:now|jetzt|currently|mittlerweile) )?(?P<where>(?:located |based )?(?:in|im|at|near|bei) )?"
    r"(?:called |named |spelled |on |am |um )?(?P<object>\S.*)"
    r"(?P<told>)(?P<wird>)",
    re.IGNORECASE,
)
_ATTRIBUTE_CHANGED = re.compile(
    rf"{_OWN} {_NOUN}{_OF} "
    r"(?:(?P<now>(?:was|were|has been|have been|is|are|got) (?:now )?(?:cut|raised|increased|reduced|lowered|set"
    r"|changed|updated|bumped)(?: from .{1,40}?)? to |(?:went up|went down|rose|fell|dropped|(?:has )?changed) to )"
    r"(?P<object>\S.*)"
    r"|(?P<wird>wurde|ist|wird) auf (?P<told>\S.{0,80}?) (?:gekürzt|erhöht|gesenkt|geändert|angehoben|reduziert)\b)",
    re.IGNORECASE,
)
_NOW_FIRST = re.compile(
    r"(?i)(?:these days|nowadays|at the moment|right now|now|today|currently|inzwischen|mittlerweile|heutzutage|derzeit"
    r"|zurzeit|momentan|jetzt|nun|seitdem),? "
)
_TIME_FIRST = re.compile(
    r"(?i)(?:since|as of|from|in|on|last|ab|seit|im|am|letzte[nrs]?|vorige[nrs]?|gestern"
    r"|heute)(?: (?!sind |bin |habe |haben )[\w.]+){0,3}?(?:, | (?=(?:sind|bin|habe|haben|arbeite|wohne|lebe)"
    r" (?:ich|wir)\b)| (?=(?:übernimmt|leitet|führt|arbeitet|wohnt|lebt) (?-i:[A-ZÄÖÜ]))| (?=(?:i|we|my|our|the) ))"
)
_INVERTED = re.compile(
    r"(?i)(sind|bin|habe|haben|arbeite|wohne|lebe|übernimmt|leitet|führt|arbeitet|wohnt|lebt)"
    r" (ich|wir|(?-i:[A-ZÄÖÜ][\w-]*)) "
)
_PLURAL = frozenset({"are", "sind"})
_LIST = re.compile(r"[^,.;:!?]{1,60}(?:, [^,.;:!?]{1,60}){0,12},? (?:and|und) [^,.;:!?]{1,60}[.!]{0,3}$")
_NAMED_LIST = re.compile(
    r"(?:[A-ZÄÖÜ][\w-]{0,40}, ){0,12}[A-ZÄÖÜ][\w-]{0,40},? (?:and|und) [A-ZÄÖÜ][\w-]{0,40}(?=[.,;!]|$)"
)
_LISTED = frozenset({"likes", "dislikes", "speaks", "depends on"})
_REASON = re.compile(r"(?i),? (?:instead|stattdessen|because|due to|so that|weil|wegen|damit)\b.*")
_CLAUSE_WORD = re.compile(
    r"(?i)\b(?:i|we|you|he|she|it|they|is|are|was|were|has|have|will|not|ich|wir|du|er|sie|es|ist|sind|hat|haben|wird)\b"
)
_REVISED = re.compile(r"(?i)\b(?:instead|after all|stattdessen|doch nicht)\b")
_IT_IS = re.compile(
    r"(?:it|that|he|she|das|es|er|sie|(?:his|her|its|the|sein|ihr|der) name) (?:is|was|ist|war|heißt)"
    r"(?: called| spelled)? "
    r"(?!(?:not|nicht|wrong|falsch|right|richtig|true|so)\b)(?P<object>\S.*)",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"(?i),? ?\b(?:not|nicht) (?P<verb>called |named |in )?(?P<wrong>[^,]{1,80}?),?"
    r" (?:but|sondern) (?P<right>\S.{0,200})"
)
_DOES_NOT = re.compile(
    r"(?i)\b(?:do|does) not (?P<verb>\w+ (?:(?:in|at|for|to) )?)(?P<wrong>[^,]{1,80}?),?"
    r" but (?:in |at |for |to )?(?P<right>(?-i:[A-ZÄÖÜ\d])\S.{0,200})"
)
_NOT = re.compile(r"(?i), ?(?:and )?(?:not|nicht) (?P<wrong>[^,]{1,80})$")
_NOT_FIRST = re.compile(r"(?i)(?:not|nicht) (?P<wrong>[^,]{1,80}), (?P<right>\S.{0,80})$")
_MEANT = re.compile(r"(?i)\b(?:i meant|ich meinte|correction:|korrektur:)")
_PLACE_ONLY = re.compile(r"(?i:in|bei|at) (?-i:[A-ZÄÖÜ])[\w-]*(?: [A-ZÄÖÜ][\w-]*)?")
_AT = re.compile(r"(?i)\b(?:at|um) $")
LONGEST_VALUE = 4  # words of what "I meant …" corrects
_END = re.compile(
    r"(?i)(?<!\b[dm]r)(?<!\bms)(?<!\bst)(?<!\bnr)(?<!\bmrs)(?<!\bprof)[,.;!](?=\s|$)"
    r"|\s(?:and|but|because|since|with|where|which|who|while|after|before|when|as an?|als"
    r"|anymore|any more|any longer"
    r"|instead|these days|right now|at the moment|as of now|und|aber|weil|seit|wo|mit meine[rmn]?|um|mehr|nicht mehr)\b"
)
_FILLER = (
    "now today currently again too actually lately already jetzt heute wieder auch in on by at since for am im seit the"
)
_NEW = re.compile(r"(?:new|current|neue[rns]?|aktuelle[rns]?) (?=\S)")
_DATE_ARTICLE = re.compile(r"(?i)^(?:der|den|dem|the) (?=\d)")
_FILLERS = frozenset(_FILLER.split())
_PRONOUN = "you du ihr it this that he she they there these those what who das es er sie dies diese"
_PRONOUNS = frozenset(_PRONOUN.split())
_OF_USER = frozenset({"i", "me", "my", "ich", "mich", "mein", "meine"})
_WITH_ARTICLE = frozenset(
    {"we", "us", "our", "wir", "uns", "unser", "unsere", "the", "der", "die", "das", "den", "dem"}
)
_ARTICLES = frozenset({"the", "der", "die", "das"})
_VERDICTS = frozenset({"wrong", "right", "true", "correct", "falsch", "richtig"})
_OF_ALL = frozenset({"we", "us", "our", "wir", "uns", "unser", "unsere"})
_TEAM = frozenset({"our team", "unser team"})
_ITS = frozenset({"it", "this", "that", "es", "das"})
_IT = re.compile(r"(?i)\b(?:it|this|that|es|das)\b")
_FROM = re.compile(r"(?i) (?:from|von|as|als|to) ")
_NOT_SO = ("not ", "nicht ", "kein")
_POINTS = re.compile(
    r"(?i)(?:it|this|that|these|those|them|you|your|when|how|what|es|das|dies\w*|dich|euch|dein\w*|wenn|wie)\b"
)
"""Begins what is only understood in its conversation: "I like this version" is no preference."""
_TALK = "question point guess idea opinion suggestion concern problem frage meinung idee vorschlag"
_OF_TALK = frozenset(_TALK.split())
"""Nouns of what is being talked about: "my question is simple" says nothing of the user."""
_OF_PEOPLE = frozenset({"lead", "owner", "responsible", "boss"})
_OF_THINGS = frozenset({"lead", "owner", "responsible", "depends on", "date", "deadline", *USED})


@dataclass(frozen=True)
class _Saying:
    """The context of a clause: its time and time zone, whom "I" means, what "it" means, if known, and whether the
    message has no capitals at all.
    """

    said_at: datetime
    time_zone: str
    speaker: str
    lower: bool
    it: str | None = None


_TAKES_PLACE = re.compile(r"(?i)\b(?:takes? place|taking place|held|happens|statt)\b")
"""Marks an event, whose time is when it is; elsewhere a place's time is since when it is there."""


def statements(text: str, said_at: datetime, time_zone: str, speaker: str = USER) -> Iterator[StatedFact]:
    """Yields what the message states. `speaker` is whom "I" means: the user, or someone else by name."""
    saying, before = _Saying(said_at, time_zone, speaker, text.islower()), ""
    for clause, corrects in clauses(text):
        found = _stated(clause, saying)
        if speaker == USER and (found is None or found.kind is MemoryKind.style):
            yield from styled(clause, found)
        elif found is not None:
            if saying.it is not None and _IT.search(clause):
                found = replace(found, text=f"{before}, {clause}")
            yield replace(found, corrects=corrects or found.replaces is not None)
            if found.predicate == PLACE and found.phrase and _TAKES_PLACE.search(clause):
                yield replace(found, predicate="date", object=found.phrase, starts=None, starts_by=None)
        correction = None if found else _of_known(clause) or _correction(text, clause)
        if correction and (corrects or (correction.replaces is not None and _is_bare(correction))):
            yield replace(correction, corrects=corrects)
        saying, before = replace(saying, it=_thing(found, saying.it)), (found.text if found else clause).rstrip(" .,;!")


def _correction(text: str, clause: str) -> StatedFact | None:
    """Reads "it is X", "not Y, X" and "I meant X", which do not say what they are about."""
    told = _IT_IS.match(clause)
    wrong, right = _replaced(told["object"] if told else clause)
    if wrong is None and (found := _NOT_FIRST.match(clause.rstrip(" .!"))):
        wrong, right = found["wrong"].strip(), found["right"]
    right = _trimmed(right, None)
    meant = told is None and wrong is None and bool(_MEANT.search(text) or _PLACE_ONLY.fullmatch(right))
    if not right or (told is None and len(right.split()) > LONGEST_VALUE):
        return None
    if told is None and wrong is None and not meant:
        return None
    return StatedFact(MemoryKind.fact, clause, None, "", right, "one", corrects=True, replaces=wrong, meant=meant)


def _is_bare(correction: StatedFact) -> bool:
    """Returns whether "it is X, not Y", "the supplier is X, not Y" or "X, not Y" says nothing else than that."""
    right, wrong = correction.object, correction.replaces or ""
    is_told = correction.predicate or _IT_IS.match(correction.text)
    return bool(is_told) or (len(right.split()) == len(wrong.split()) and not _CLAUSE_WORD.search(right))


def _of_known(clause: str) -> StatedFact | None:
    """Reads "the supplier is X": a correction of what is known by this noun, whosever supplier it is."""
    wrong, sentence = _replaced(clause)
    found = _ATTRIBUTE.match(sentence)
    if found is None or found["who"].lower() not in _ARTICLES or found["of"] or found["where"]:
        return None
    noun, told = _NEW.sub("", found["noun"].lower()), _trimmed(found["object"], None)
    if not told or told.lower() in _VERDICTS or len(told.split()) > LONGEST_VALUE:
        return None
    return StatedFact(MemoryKind.fact, clause, None, noun, told, "one", corrects=True, replaces=wrong)


def _thing(found: StatedFact | None, it: str | None) -> str | None:
    """Returns what "it" means after a statement: the project that it is about, or the thing that is used."""
    if found is None or found.predicate not in _OF_THINGS:
        return None
    if found.subject in ("we", USER):
        return found.object if found.predicate in USED else it
    return found.subject


def _stated(clause: str, saying: _Saying) -> StatedFact | None:
    wrong, sentence = _replaced(clause)
    first = _TIME_FIRST.match(sentence)
    if first is None or not resolved(first[0], saying.said_at, saying.time_zone):
        first = _NOW_FIRST.match(sentence)
    if first:
        sentence = _INVERTED.sub(r"\2 \1 ", sentence[first.end() :], count=1)  # "Im Juni bin ich …": "ich bin …"
    if (found := _ATTRIBUTE_CHANGED.match(sentence)) and found["noun"].lower() in ONE_VALUE:
        return _attribute(found, clause, wrong, saying)
    for rule in RULES:
        if (found := rule.pattern.match(sentence)) and _fits(rule, found, saying):
            return _by_rule(rule, found, clause, wrong, saying)
    if found := _ATTRIBUTE.match(sentence):
        return _attribute(found, clause, wrong, saying)
    if found := _ATTRIBUTE_CHANGED.match(sentence):
        return _attribute(found, clause, wrong, saying)
    return None


def _fits(rule: _Rule, found: re.Match[str], saying: _Saying) -> bool:
    """Returns whether the object of a rule about times is a time, and that of one about places is none."""
    if not rule.timed and rule.predicate not in (PLACE, "lives in"):
        return True
    return rule.timed == _is_time(_with_at(found), saying)


def _with_at(found: re.Match[str]) -> str:
    """Returns the object; with its preposition if it is only a number: "at 9" is a time, "9" is not."""
    number = found["object"].strip(" .,!")
    before = _AT.search(found.string, 0, found.start("object")) if number.isdecimal() else None
    return f"{before[0]}{number}" if before else found["object"]


def _is_time(text: str, saying: _Saying) -> bool:
    """Returns whether the text is a time: "12 March", or "March" after a preposition."""
    return any(is_moment(one, saying.said_at, saying.time_zone) for one in (text, f"in {text}"))


def _by_rule(rule: _Rule, found: re.Match[str], clause: str, wrong: str | None, saying: _Saying) -> StatedFact | None:
    groups, predicate = found.groupdict(), rule.predicate
    ahead = rule.ahead or predicate in ("date", "deadline")
    # "We agreed to ship in June": the time is of what was decided, not of the decision.
    when = None if predicate == DECIDED else resolved(clause, saying.said_at, saying.time_zone, ahead=ahead)
    subject = _subject_by_rule(rule, groups, when, saying)
    is_date = predicate in TIMES
    told = _told_by_rule(rule, found, when)
    if _is_no_fact(rule, subject, told, saying):
        return None
    if rule.planned and when is None:
        predicate = PLANS[predicate]
    if (subject is None and not (is_date and groups["who"].casefold() in _ITS)) or (not told and not rule.over):
        return None
    if kind := groups.get("kind"):
        kind = _trimmed(kind, when)
        predicate = number_of(kind) if predicate == NUMBER else predicate_of(kind, subject)
    elif predicate == USES:
        predicate = kind_of(told) or USES
    elif rule.predicate == "lives in" and subject == "we":
        predicate = kind_of(told) or predicate
        if predicate == rule.predicate and told[:1].isupper():
            subject = saying.speaker  # the speaker is one of those who live there
    if rule.turned or predicate in _OF_PEOPLE:
        told = _person(told, saying)
    has_times = when and not is_date and rule.kind is not MemoryKind.style
    starts, ends = (when.start, when.end) if when and has_times else (None, None)
    return StatedFact(
        rule.kind,
        clause,
        subject,
        predicate,
        "" if rule.over and is_date else told,
        "many" if predicate == USES else rule.values,
        starts,
        ends if ends and (rule.past or ends <= saying.said_at) else None,
        (ends or saying.said_at) if rule.past else None,
        when.phrase if when else None,
        over=rule.over,
        replaces=wrong,
        follows=groups.get("old"),
        revises=predicate == DECIDED and bool(groups.get("revises") or _REVISED.search(clause)),
    )


def _subject_by_rule(rule: _Rule, groups: Mapping[str, str], when: ResolvedTime | None, saying: _Saying) -> str | None:
    if groups.get("pet"):
        return f"{saying.speaker}'s {groups['pet']}"
    if rule.predicate != "name" and groups["who"].casefold() in _TEAM:
        return "we"
    who = _trimmed(_FROM.split(groups["who"], maxsplit=1)[0], when) if rule.turned else groups["who"]
    return _subject(who, saying)


def _is_no_fact(rule: _Rule, subject: str | None, told: str, saying: _Saying) -> bool:
    """Returns whether the object is denied, understood only in its conversation, or no name of the speaker."""
    if told.lower().startswith(_NOT_SO):
        return True
    if rule.kind is MemoryKind.preference:
        return bool(_POINTS.match(told))
    is_own_name = rule.predicate == "name" and subject == saying.speaker
    return is_own_name and not is_value("name", told, lower=saying.lower, is_time=False)


def _told_by_rule(rule: _Rule, found: re.Match[str], when: ResolvedTime | None) -> str:
    """Returns the object, or how to answer."""
    if rule.predicate in TIMES or rule.kind is MemoryKind.style:
        told = _REASON.sub("", _DATE_ARTICLE.sub("", _with_at(found)))
    else:
        told = _named_list(rule.predicate, found["object"]) or _trimmed(found["object"], when)
    return told.strip(" .,;!")


def _attribute(found: re.Match[str], clause: str, wrong: str | None, saying: _Saying) -> StatedFact | None:
    """Reads "My favourite colour is blue", "Anna's birthday is on 5 May", "our launch is on 12 March"."""
    noun, owner, of = found["noun"].lower(), found["who"].lower(), found["of"]
    is_new, noun = bool(_NEW.match(noun)), _NEW.sub("", noun)
    if noun in _OF_TALK or noun in _PRONOUNS or noun.split()[0] in _PRONOUNS:
        return None
    said, where = found["object"] or found["told"], found.groupdict().get("where") or ""
    is_time = _is_time(said, saying)
    subject, predicate = _had(noun, found["who"], found["by"], of, saying) or (None, noun)
    is_date = is_date_noun(noun)
    if is_time and not is_date and owner not in _OF_USER and not owner.endswith("'s"):
        # "The meeting is on Friday", "our demo with Anna is at 9:30"
        subject, predicate, is_date = (f"{noun} {found['by']} {of}" if of else noun), "date", True
    elif where and owner in _OF_ALL and not of and not is_time:
        subject, predicate, where = noun, PLACE, ""
    said = f"{where.removeprefix('at ')}{said}"
    if subject is None:
        return None
    when = resolved(said, saying.said_at, saying.time_zone, ahead=True)
    is_date = is_date or is_time
    several = not where and found.re is _ATTRIBUTE and found["verb"].lower() in _PLURAL
    listed = _listed(said) if several and not is_date else None
    told = _DATE_ARTICLE.sub("", said.strip(" .,;!")) if is_date else listed or _trimmed(said, when)
    if not told or told.lower().startswith((*_NOT_SO, "no ", "so ", "very ")):
        return None
    if not is_value(noun, told, lower=saying.lower, is_time=is_time):
        who = _subject(f"{found['who']} {found['noun']}", saying) if noun in PEOPLE and not of else None
        return StatedFact(MemoryKind.fact, clause, who, "is", told) if who else None
    is_favourite = noun.startswith(("favorite ", "favourite ", "lieblings"))
    one = predicate in (*ONE_VALUE, *TIMES, PLACE) or is_favourite or counted(noun, found["by"], of) is not None
    kind = MemoryKind.preference if is_favourite else MemoryKind.fact
    values: Values = "one" if one or is_new or found["now"] or found["wird"] else "unknown"
    return StatedFact(
        kind, clause, subject, predicate, told, values, phrase=when.phrase if when and is_date else None, replaces=wrong
    )


def _listed(said: str) -> str | None:
    """Returns the whole list: "Jena, Fulda and Trier"; None if what is said is no list, or goes on with a clause."""
    return said.strip(" .,;!")[:200] if _LIST.match(said) and not _CLAUSE_WORD.search(said) else None


def _named_list(predicate: str, said: str) -> str | None:
    """Returns the names with which the object of a predicate with many values begins, if there are several."""
    found = _NAMED_LIST.match(said) if predicate in _LISTED else None
    return found[0] if found else None


def _had(noun: str, who: str, by: str | None, of: str | None, saying: _Saying) -> tuple[str, str] | None:
    """Returns subject and predicate of what the user, somebody, the team or something has; None if it is nobody's."""
    owner = who.lower()
    if owner in _OF_USER:
        return saying.speaker, predicate_of(with_preposition(noun, by, of), saying.speaker)
    if owner.endswith("'s"):
        subject = _subject(who[:-2], saying)
    elif number := counted(noun, by, of):
        return "we", number
    elif of:
        is_ours = owner in _OF_ALL or noun in ONE_VALUE or (by or "").lower() in OF
        subject = _subject(of, saying) if is_ours else None
    else:
        subject, noun = of_team(noun)
        if subject == "we" and not (noun in ONE_VALUE or is_date_noun(noun) or owner in _OF_ALL):
            return None
    return None if subject is None else (subject, predicate_of(noun, subject))


def _person(told: str, saying: _Saying) -> str:
    """Returns who leads or owns: a name, or the speaker."""
    word = told.casefold()
    if word in ("i", "me", "ich", "mir"):
        return saying.speaker
    return "we" if word in _OF_ALL else told


def _subject(who: str, saying: _Saying) -> str | None:
    """Returns whom the sentence is about; None for a pronoun that cannot be resolved."""
    word = who.strip().lower()
    if not word or word in _OF_USER:
        return saying.speaker
    if word in _OF_ALL:
        return "we"
    if word in _ITS:
        return saying.it
    first, _, rest = who.strip().partition(" ")
    if first.lower() in _PRONOUNS and not (rest and first.lower() in _WITH_ARTICLE):
        return None
    if rest and first.lower() in _OF_USER:
        return f"{saying.speaker}'s {rest}"
    if rest and first.lower() in _WITH_ARTICLE:
        return rest
    return who.strip()


def _replaced(sentence: str) -> tuple[str | None, str]:
    """Returns what is named as wrong, and the sentence without it."""
    if found := _DOES_NOT.search(sentence) or _BUT.search(sentence):
        verb = (found["verb"] or "") if not found["right"].lower().startswith("in ") else ""
        return found["wrong"].strip(" .!"), f"{sentence[: found.start()].rstrip()} {verb}{found['right']}".strip()
    bare = sentence.rstrip(" .!")
    if found := _NOT.search(bare):
        return found["wrong"].strip(), bare[: found.start()]
    return None, sentence


def _trimmed(text: str, when: ResolvedTime | None) -> str:
    """Returns the object itself: up to the next clause, without its time."""
    if when is not None and when.phrase in text:
        text = text.replace(when.phrase, " ", 1)
    text = text.strip()
    if cut := _END.search(text, 1):
        text = text[: cut.start()]
    words = text.split()
    while words and words[-1].lower().strip(".,!") in _FILLERS:
        words.pop()
    return " ".join(words)[:200]
