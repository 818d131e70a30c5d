"""Finds relations in German sentences about how systems are built and owned: "X hängt von A und B ab", "Früher nutzte X
das Y".

There is no parser for German here, so a clause counts only if it has one verb of the list and its parts are where
German grammar puts them: one subject, then the objects, with only small words between. Anything else states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.relation_phrases import StatedRelation

SECTION = -1
"""Stands for the subject "er", "sie" or "es": what the section is about."""
CERTAIN = 0.85
ARTICLE = r"(?:(?:der|die|das|den|dem|des|ein|eine|einen|einem|einer|unser|unsere|vom|zum|zur|beim|im|am) )?"
KIND = (
    r"(?:(?:[Dd]ienst|[Ss]ystem|[Tt]eam|[Bb]ibliothek|[Dd]atenbank|[Aa]nwendung|[Pp]rojekt|[Kk]omponente|App|[Bb]us) )?"
)
ADVERBS = (
    r"(?:(?:auch|noch|nur|direkt|immer|weiterhin|heute|derzeit|inzwischen|seit|dabei|dazu|dafür|außerdem|bereits|schon|"
    r"zusätzlich|ebenfalls|selbst|intern|künftig|jetzt|nun|zudem|sowohl|weder|nie|niemals|nicht|nicht mehr|ab sofort|"
    r"ab jetzt) ){0,3}"
)
WHAT = r"(?:(?!(?:und|oder|nicht|kein|keine|keinen|aber|von|auf|aus|in|an|zu) )[\wäöüÄÖÜß-]{2,40} ){0,4}"
"""The object read or sent: "die Sollzeiten", "jeden Standort"."""


@dataclass(frozen=True)
class GermanVerb:
    """`before` is between subject and object, `behind` after the last object; `passive`: the object acts."""

    relation_type: str
    before: re.Pattern[str]
    inverted: re.Pattern[str]
    behind: re.Pattern[str] | None = None
    passive: bool = False
    takes_object: bool = False
    """Whether its object has no preposition."""


BETWEEN = re.compile(rf"`? {ADVERBS}{ARTICLE}{KIND}`?")
USED = r"genutzt|benutzt|verwendet|gebraucht|benötigt|aufgerufen|gelesen|abgefragt|eingesetzt"
# relation, finite forms, before the object, after it, whether the object acts
_GRAMMAR: tuple[tuple[str, str, str, str, bool], ...] = (
    ("DEPENDS_ON", r"hängt|hängen|hing|hingen", r"(?:ab )?(?:von|vom)", r"ab", False),
    ("DEPENDS_ON", r"braucht|brauchen|brauchte|benötigt|benötigen|benötigte", "", "", False),
    ("DEPENDS_ON", r"ist|sind", r"auf", r"angewiesen", False),
    (
        "USES",
        r"nutzt|nutzen|nutzte|nutzten|benutzt|benutzen|benutzte|verwendet|verwenden|verwendete|setzt auf",
        "",
        "",
        False,
    ),
    ("RUNS_ON", r"läuft|laufen|lief|basiert|basieren|basierte", r"auf", "", False),
    ("USES", r"baut|bauen|baute|setzt|setzen|setzte", r"auf", r"auf", False),
    ("USES", r"greift|greifen|griff", rf"{WHAT}auf", r"zu", False),
    ("CALLS", r"ruft|rufen|rief|fragt|fragen|fragte", "", r"auf|an|ab", False),
    (
        "READS",
        r"liest|lesen|las|bezieht|beziehen|bezog|holt|holen|lädt|übernimmt",
        rf"{WHAT}(?:aus|von|vom)",
        "",
        False,
    ),
    ("WRITES", r"schreibt|schreiben|schrieb|speichert|speichern|sichert|legt", rf"{WHAT}(?:in|im|nach)", "", False),
    ("WRITES", r"veröffentlicht|veröffentlichen|meldet|sendet", rf"{WHAT}(?:auf|an)", "", False),
    ("USES", r"wird|werden|wurde|wurden", r"(?:von|vom)", USED, True),
    ("OWNS", r"wird|werden|wurde|wurden", r"(?:von|vom)", r"verantwortet|entwickelt und betrieben", True),
    ("MAINTAINS", r"wird|werden|wurde", r"(?:von|vom)", r"betreut|betrieben|gepflegt|gewartet", True),
    ("OWNS", r"verantwortet|verantworten|besitzt|besitzen", "", "", False),
    ("MAINTAINS", r"betreut|betreuen|betreibt|betreiben|pflegt|pflegen|wartet|warten", "", "", False),
    ("OWNS", r"ist|sind|war", r"für", r"zuständig|verantwortlich", False),
    ("USES", r"wird|werden|soll|sollen", "", r"nutzen|benutzen|verwenden|brauchen|benötigen|einsetzen", False),
)
VERBS = tuple(
    GermanVerb(
        relation,
        re.compile(rf"`?\)? ?(?:{finite}) {ADVERBS}{link}{' ' if link else ''}{ADVERBS}{ARTICLE}{KIND}`?"),
        re.compile(rf"(?:^|[\s(])(?:{finite}) {ADVERBS}{ARTICLE}{KIND}`?$"),
        re.compile(rf"`?(?: [\w-]{{1,20}}){{0,2}}? ?(?:{behind})(?!\w)") if behind else None,
        passive,
        not link,
    )
    for relation, finite, link, behind, passive in _GRAMMAR
)
WILL = re.compile(r"(?:wird|werden|soll|sollen)(?!\w).* (?:nutzen|benutzen|verwenden|brauchen|benötigen|einsetzen)$")
DENIES = re.compile(r"(?<!\w)(?:nie|niemals|weder|nicht(?! nur))(?!\w)")
OBJECT_FIRST = re.compile(r"(?<!\w)(?:den|dem|des|einen|einem) `?$", re.IGNORECASE)
SUBJECT_BEHIND = re.compile(r"(?<!von )(?<!aus )(?<!auf )(?<!in )(?<!an )(?<!zu )(?<!für )(?<!\w)(?:der|er) `?$")
"""After a verb with an accusative object, "der" begins the subject."""
FOR = re.compile(rf"(?:^|[\s(])[Ff]ür {ARTICLE}{KIND}`?$")
IN_CHARGE = re.compile(rf"`? (?:ist|sind) {ADVERBS}{ARTICLE}{KIND}`?")
CHARGED = re.compile(r"`? (?:zuständig|verantwortlich)(?!\w)")
BELONGS = re.compile(
    rf"`? (?P<v>gehört|gehören|gehörte|gehörten) {ADVERBS}(?P<to>zu |zum |zur )?{ARTICLE}(?P<team>Team )?`?"
)
PRETERITE = re.compile(
    r"(?<!\w)(?:(?:nutz|benutz|verwende|brauch|benötig|frag|setz|bau|basier|gehör)ten?|hingen?|liefe?n?|griff|rief|las|"
    r"bezog|schrieb|wurden?|war)(?!\w)"
)
"""The past tense. Unless something says that it ended, it only reports what happened."""
PART = re.compile(r"`? ist (?:ein )?(?:Teil|Bestandteil|Modul) (?:von|vom|des|der) (?:(?:dem|der) )?`?")
NEXT = re.compile(rf"`?(?:,| und| sowie|,? (?:und|sowie)(?: auf| von| aus)?) (?:auf |von |aus )?{ARTICLE}`?")
GOES_ON = re.compile(r"^(?: (?:zu|auf|ab|an))? und(?= )")
"""Before a second verb of the same subject: "greift auf X zu und speichert in Y"."""
PRONOUN = re.compile(r"(?:Er|Sie|Es|(?:Der|Die|Das) (?:Dienst|System|Anwendung|App))(?= )")
KEPT = re.compile(
    rf"(?:Ihre|Seine) [A-ZÄÖÜ][\wäöüß-]{{1,40}} (?:liegen|liegt|stehen|steht|landen|landet) {ADVERBS}(?:in|im) "
    rf"{ARTICLE}{KIND}`?"
)
RESPONSIBLE = re.compile(rf"(?:Verantwortlich|Zuständig)(?: dafür)? (?:ist|sind) {ADVERBS}{ARTICLE}{KIND}`?")
OPENING_ARTICLE = re.compile(r"([Dd]er|[Dd]ie|[Dd]as) `?")
GREETING = re.compile(r"^[^\n]{2,40},[ ]*\n\s*", re.MULTILINE)
PRONOUNS = {"der": "Er", "die": "Sie", "das": "Es"}
CLAUSE_END = re.compile(r"[;:]|, (?=(?:da|weil|denn|aber|um|wenn|falls|obwohl|sodass|damit|die|der|das|wobei) )| aber ")
LONGEST_CLAUSE = 400
FINITE = (
    r"(?:nutzt|hängt|benötigt|braucht|verwendet|läuft auf|gehört|ruft|greift|liest|schreibt|speichert|setzt auf|"
    r"bezieht|holt|sendet|ist|wird vo[nm])"
)
COMPOUND = (
    r"[A-ZÄÖÜ][a-zäöüß]{2,30}(?:dienst|datenbank|speicher|portal|server|gateway|rechner|archiv|ablage|datei|kartei|"
    r"steuerung|börse|akte|lauf|anzeige|shop|konto|bus|register|system|plattform|kasse|auskunft|verwaltung|planer|planung|"
    r"verzeichnis|schnittstelle|zentrale)"
)
SLOTS = re.compile(
    rf"(?:(?<!\w)(?:[Dd]er|[Dd]ie|[Dd]as) ({COMPOUND})(?=(?: \([^()\n]{{2,60}}\))?\s{{1,3}}{FINITE}(?!\w)))|"
    rf"(?<!\w)(?:(?:nutzt|nutzte|benötigt|braucht|verwendet|aus|auf|von|in) (?:der|die|das|dem|den)|vom) "
    rf"({COMPOUND})(?!\w)"
)
STORES = ("datenbank", "speicher", "archiv", "ablage", "datei", "kartei")


def names(text: str) -> Iterator[Span]:
    """Yields names that only the grammar of the sentence reveals: "Der Meldedienst gehört …"."""
    for found in SLOTS.finditer(text):
        group = next(number for number, value in enumerate(found.groups(), 1) if value)
        surface = found.group(group)
        yield Span(*found.span(group), surface, "STORE" if surface.endswith(STORES) else "SERVICE")


def statements(
    text: str, spans: Sequence[Span], sentences: Sequence[tuple[int, int]], *, has_section: bool
) -> Iterator[StatedRelation]:
    """Yields the relations that clauses state between names in `spans` (sorted, without overlaps).

    A pronoun means the name that opens the sentence before, if the gender of its article agrees; else, if
    `has_section`, it is the subject SECTION.
    """
    before = "", SECTION
    for start, end in sentences:
        if end - start <= LONGEST_CLAUSE:
            begin = start
            for cut in [*(found.start() for found in CLAUSE_END.finditer(text, start, end)), end]:
                opens = begin == start and PRONOUN.match(text, start, cut)
                agrees = opens and opens.group() == before[0]
                pronoun = opens.end() if opens and (agrees or has_section) else -1
                yield from _of_clause(text, spans, begin, cut, pronoun, before[1] if agrees else SECTION)
                if has_section and begin == start:
                    yield from _of_section_alone(text, spans, _inside(spans, start, cut), start)
                begin = cut
            before = _opening(text, spans, start, end)


def _opening(text: str, spans: Sequence[Span], start: int, end: int) -> tuple[str, int]:
    """Returns the name that opens the sentence, after the pronoun that its article agrees with."""
    greeted = [found.end() for found in GREETING.finditer(text, start, end)]
    article = OPENING_ARTICLE.match(text, max(greeted, default=start))
    named = (at for at, span in enumerate(spans) if article and span.start == article.end())
    place = next(named, None)
    if article is None or place is None or spans[place].entity_type in {"TEAM", "PERSON"}:
        return "", SECTION
    return PRONOUNS[article.group(1).casefold()], place


def _of_clause(
    text: str, spans: Sequence[Span], start: int, end: int, pronoun: int, meant: int
) -> Iterator[StatedRelation]:
    """Yields the relations of a clause; a pronoun that ends at `pronoun` (-1: none) stands for the name `meant`."""
    inside = _inside(spans, start, end)
    subjects: list[int] = []
    for number, place in enumerate(inside):
        first = spans[inside[number - 1]].end if number else pronoun
        gap = _gap(text, first, spans[place].start)
        if gap is None:
            continue
        goes_on = GOES_ON.match(gap) is not None and bool(subjects)
        if not goes_on:
            subjects = _before(text, spans, inside[:number]) if number else [meant]
            if number and OBJECT_FIRST.search(text[start : spans[subjects[0]].start]):
                continue
        rights = _after(text, spans, inside[number:])
        found = _statement(text, GOES_ON.sub("", gap) if goes_on else gap, spans[rights[-1]].end, end)
        if found is not None:
            yield from _each(spans, subjects, rights, found, start)
    yield from _inverted(text, spans, inside, start, end)


def _inside(spans: Sequence[Span], start: int, end: int) -> list[int]:
    return [place for place, span in enumerate(spans) if start <= span.start and span.end <= end]


def _of_section_alone(text: str, spans: Sequence[Span], inside: Sequence[int], start: int) -> Iterator[StatedRelation]:
    """Yields statements about the section: "Ihre Fälle liegen in der FallDB", "Verantwortlich ist das Team Orders"."""
    opening = text[start : spans[inside[0]].start] if inside else ""
    rights = _after(text, spans, inside) if inside else []
    if KEPT.fullmatch(opening) and all(spans[one].entity_type == "STORE" for one in rights):
        yield from _each(spans, [SECTION], rights, ("WRITES", False, opening.strip()), start)
    elif RESPONSIBLE.fullmatch(opening):
        yield from _each(spans, [SECTION], rights, ("OWNS", True, opening.strip()), start)


def _each(
    spans: Sequence[Span], subjects: Sequence[int], rights: Sequence[int], found: tuple[str, bool, str], start: int
) -> Iterator[StatedRelation]:
    relation_type, passive, phrase = found
    for subject in subjects:
        for right in rights:
            ends = (right, subject) if passive else (subject, right)
            first = start if subject == SECTION else min(max(start, spans[subject].start), spans[right].start)
            denied = DENIES.search(phrase) is not None
            yield StatedRelation(*ends, relation_type, CERTAIN, first, spans[right].end, phrase, denied)


def _inverted(
    text: str, spans: Sequence[Span], inside: Sequence[int], start: int, end: int
) -> Iterator[StatedRelation]:
    """Yields relations stated by a verb before its subject: "Früher nutzte X das Y", "Für X ist Y zuständig"."""
    if len(inside) < 2:
        return
    first, rights = inside[0], _after(text, spans, inside[1:])
    between, opening = text[spans[first].end : spans[rights[0]].start], text[start : spans[first].start]
    last = spans[rights[-1]].end
    if FOR.search(opening) and IN_CHARGE.fullmatch(between) and CHARGED.match(text, last):
        yield from _each(spans, [first], rights, ("OWNS", True, between.strip()), start)
    if BETWEEN.fullmatch(between) is None or OBJECT_FIRST.search(opening):
        return
    for verb in VERBS:
        before = verb.inverted.search(opening) if verb.takes_object else None
        behind = verb.behind.match(text, last, end) if verb.behind and before else None
        if before is not None and (verb.behind is None or behind is not None):
            phrase = f"{before.group().strip()} {behind.group().strip() if behind else ''}".strip()
            yield from _each(spans, [first], rights, (verb.relation_type, False, phrase), start)
            return


def _statement(text: str, gap: str, last: int, end: int) -> tuple[str, bool, str] | None:
    """Returns the type, whether the name behind the gap is the one who acts, and the phrase."""
    belongs = BELONGS.fullmatch(gap)
    if belongs is not None:
        # "gehört zum Team X", "gehört X": X owns it. "gehört zu X": it is a part of X, or X's.
        is_owner = belongs["team"] or not belongs["to"]
        return ("OWNS", True, gap.strip()) if is_owner else ("PART_OF", False, gap.strip())
    if PART.fullmatch(gap):
        return "PART_OF", False, gap.strip()
    for verb in VERBS:
        if verb.before.fullmatch(gap) is None or (verb.takes_object and SUBJECT_BEHIND.search(gap)):
            continue
        behind = verb.behind.match(text, last, end) if verb.behind else None
        if verb.behind is None or behind is not None:
            return verb.relation_type, verb.passive, f"{gap.strip()} {behind.group().strip() if behind else ''}".strip()
    return None


def _gap(text: str, start: int, end: int) -> str | None:
    return " ".join(f"<{text[start:end]}>".split())[1:-1] if 0 <= start < end else None


def _before(text: str, spans: Sequence[Span], earlier: Sequence[int]) -> list[int]:
    """Returns the subjects that end before the gap ("A und B")."""
    found = [earlier[-1]]
    for one in reversed(earlier[:-1]):
        if NEXT.fullmatch(_gap(text, spans[one].end, spans[found[0]].start) or "") is None:
            break
        found.insert(0, one)
    return found


def _after(text: str, spans: Sequence[Span], later: Sequence[int]) -> list[int]:
    """Returns the objects that begin the list ("A, B und das C")."""
    found = [later[0]]
    for one in later[1:]:
        if NEXT.fullmatch(_gap(text, spans[found[-1]].end, spans[one].start) or "") is None:
            break
        found.append(one)
    return found
