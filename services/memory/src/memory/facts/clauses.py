"""Splits a message into clauses that may state something: no questions, quotations or suppositions. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable

from memory.facts.rewording import reworded
from memory.secrets import has_secret

LONGEST = 400  # characters of a clause; the rules understand nothing that is longer
SHORT = 5  # words
MOST_SHARING = 4  # verbs with one subject
_CODE = re.compile(r"```[^`]{0,20000}```|`[^`\n]{0,500}`")
_QUOTED = re.compile(r"\"[^\"\n]{0,2000}\"|“[^“”\n]{0,2000}”|„[^„“”\n]{0,2000}[“”]|«[^«»\n]{0,2000}»")
_FENCE = re.compile(r"<(memory|passage|summary)\b[^<>]{0,500}>[^<]{0,20000}</\1>")
_SENTENCE = re.compile(r"[^.!?\n;]++(?:\.(?=\w)[^.!?\n;]*+)*+[.!?;]*+")
_ABBREVIATED = re.compile(
    r"(?:(?<=\d)(?<!\d\d\d)|(?<=\b[DM]r)|(?<=\bMs)|(?<=\bSt)|(?<=\bNr)|(?<=\bMrs)|(?<=\bProf))\. (?=[^\W\d])"
    r"(?!(?:I|My|We|Our|The|It|He|She|They|Ich|Meine?|Wir|Unsere?|Der|Die|Das|Es|Er|Sie)\b)"
)
_DOT = "\ue000"
_NAMED = r"(?:it|(?-i:[A-ZÄÖÜ][\w-]*)(?: (?-i:[A-ZÄÖÜ][\w-]*))?)"
_CLAUSE = re.compile(
    r",? (?:and|but|so|because|und|aber|weil|denn)"
    r" (?=(?:now |jetzt )?(?:i|my|we|our|ich|mein|meine|wir|unser|unsere)\b)"
    rf"|, (?:(?:and|but|und|aber) )?(?={_NAMED} (?:is|was|has|leads?|owns?|runs?|heads|manages|uses?|took|belongs|ist"
    r"|wird|hat|leitet|besitzt|führt|gehört|nutzt|verwendet|benutzt)\b)"
    rf"|(?: and| und) (?={_NAMED} (?:leads|owns|runs|heads|manages|is (?:led|owned)|leitet|besitzt|führt)\b)",
    re.IGNORECASE,
)
_COMMA = re.compile(
    rf"{_CLAUSE.pattern}|(?<=any more), (?=(?:i|we) )|(?<=anymore), (?=(?:i|we) )|(?<=any longer), (?=(?:i|we) )"
    r"|, (?=(?:ich|wir|i|we) (?:\S+ )?(?:jetzt|now)\b)|, (?=(?:i|we|ich|wir) (?:now|currently|jetzt|mittlerweile)\b)"
    r"|, (?=(?:i|we) [^,]{1,80} now[.!]*$)",
    re.IGNORECASE,
)
_VERB = (
    r"(?:(?:now|currently|still|jetzt|nun|inzwischen|weiterhin) )?(?:live|work|love|like|hate|prefer|moved|relocated"
    r"|started|joined|quit|left|wohnen?|leben?|arbeiten?|heiße|mag|have (?=an? |two |three |four )"
    r"|habe (?=eine?n? |zwei |drei ))\b"
)
_SHARED = re.compile(
    rf"\b(?P<who>i|we|ich|wir) (?P<first>[^,;:]{{1,120}}?)(?:, (?:(?:and|und) )?| (?:and|und) )(?={_VERB})",
    re.IGNORECASE,
)
"""What shares its subject with the statement before: "I moved to Sopot and joined Allegro"."""
_NOT_YET = re.compile(
    r"(?i)\b(?:will|going|plan|planning|can|must|should|used|never|not|(?:want|like|love|hope|prefer) to"
    r"|wollen|möchten?|werden?|können|kann|nicht|nie) "
)
_OPENING = re.compile(
    r"(?:(?:hi|hey|hello|hallo|(?:ha){2,6}|lol|so|well|and|also|oh|ach|ok|okay|yes|yeah|ja|by the way|btw|fyi|anyway"
    r"|übrigens|und|aber|but|(?:good|great|big|bad|sad) news|sadly|unfortunately|luckily|just so you know"
    r"|for the record|nur zur info|update"
    r"|(?:please )?(?:remember|note|keep in mind)"
    r"|(?:bitte )?(?:merke? dir|notiere?(?: dir)?)"
    r"|for your information|great|thanks|thank you|danke"
    r"|(?:(?:as|like) i (?:have )?(?:already )?(?:said|mentioned|told you|wrote|explained)"
    r"|as (?:mentioned|said|discussed|announced|explained))(?: (?:before|earlier|already|yesterday|last week))?"
    r"|wie (?:schon |bereits |gestern )?(?:gesagt|erwähnt|besprochen|angekündigt|erklärt)"
    r"|wie ich (?:schon |bereits |gestern )?(?:sagte|erwähnte|schrieb|gesagt habe|erwähnt habe))"
    r"(?: (?:there|all|everyone|zusammen|that|dass))?[,:!]? "
    r"|(?:that|this|it) is (?:not true|no longer true|not the case|out of date)(?: any ?more| any longer)?[,:;.–-]{1,9}"
    r" |das (?:stimmt|gilt) nicht mehr[,:;.–-]{1,9} )+",
    re.IGNORECASE,
)
_CORRECTING = re.compile(
    r"(?:no(?! (?:bullet|emoji))|nope|actually|(?:small |minor )?correction|sorry|oops|wait"
    r"|wrong(?=:)|i mixed (?:that|it|this) up|(?:please )?correct(?: (?:that|this|it))?(?=:)"
    r"|(?-i:[A-ZÄÖÜ])[\w-]{1,40} (?:is|was|ist|war) (?:wrong|falsch)|i meant|i mean|i misspoke|i mistyped"
    r"|(?:that was |my )?(?:a )?typo|my mistake|my bad|that was wrong"
    r"|that is wrong|that is not right|i was wrong|i got (?:it|that) wrong|i made a mistake|i was mistaken|scratch that"
    r"|let me correct (?:that|this|it|myself)|nein"
    r"|(?:kleine )?korrektur|bitte korrigieren|berichtigung|eigentlich|stimmt nicht|das stimmt nicht"
    r"|ich meinte|(?:das war |das ist )?falsch|(?:(?:ich habe? mich|da habe? ich mich) )?(?:vertippt|verschrieben"
    r"|vertan|geirrt|versprochen|verlesen)|(?:das war )?mein fehler|ich muss mich (?:korrigieren|berichtigen)|quatsch"
    r"|entschuldigung)[,:.! –-]+ ?",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|would|could|might|maybe|perhaps|wish|hope to|suppose|imagine|pretend|thinking (?:about|of)"
    r"|consider(?:ing)?|wenn|falls|würde|könnte|hätte|wäre|vielleicht|womöglich|angenommen|überlege)\b",
    re.IGNORECASE,
)
_JOKING = re.compile(
    r"(?i)\b(?:(?:just|only|am|'m) (?:kidding|joking)|(?:kleiner|nur(?: ein)?) (?:scherz|witz|spaß))\b"
    r"|\b(?:(?:ha){2,6}|lol|rofl)[\s.!)]*$"
)
_OTHERS = re.compile(
    r"(?i)(?:(?:please|bitte|now|can you|could you|kannst du|könntest du) )*(?:(?:translate|proofread|rephrase|rewrite"
    r"|summari[sz]e|paraphrase|shorten|improve|fix|edit|übersetze|korrigiere|verbessere|formuliere"
    r"|fasse|kürze|(?:write|draft|compose|schreibe?|verfasse|entwirf) (?:me |mir )?(?:an?|the|eine?n?|den|die|das))"
    r"\b[^:]{0,120}:|(?:let(?:'| u)s )?(?:suppose|assume|imagine|pretend)\b"
    r"|let(?:'| u)s say\b|for example\b|e\.g\.|angenommen\b|nehmen wir an\b|stell dir vor\b"
    r"|(?:zum )?beispiel\b|z\. ?b\.)"
)
"""Begins a text to work on, a supposition or an example: what follows in the message is not said of the user."""
_REPORTED = re.compile(
    r"\b(?:said|says|told (?:me|us)|claims?|claimed|according to|wrote|asked|thinks|believes|guesses|assumes|sagte?"
    r"|sagt|meint|erzählte|laut|behauptet|glaubt|denkt|vermutet)\b",
    re.IGNORECASE,
)
_SHORT = [
    (re.compile(rf"(?i)\b{short}\b"), long)
    for short, long in (
        ("i'm", "I am"), ("i've", "I have"), ("i'll", "I will"), ("i'd", "I would"), ("we're", "we are"),
        ("we've", "we have"), ("we'll", "we will"), ("let's", "let us"), ("it's", "it is"), ("that's", "that is"),
        ("he's", "he is"), ("she's", "she is"), ("they're", "they are"), ("don't", "do not"), ("doesn't", "does not"),
        ("didn't", "did not"), ("isn't", "is not"), ("aren't", "are not"), ("wasn't", "was not"), ("can't", "cannot"),
        ("won't", "will not"), ("haven't", "have not"), ("hasn't", "has not"), ("name's", "name is"),
    )
]  # fmt: skip


def clauses(text: str) -> list[tuple[str, bool]]:
    """Returns the clauses in order, each with whether it corrects what was said before."""

    def divide(sentence: str) -> list[str]:
        if not _is_own(_opened(sentence)[0]):
            return _CLAUSE.split(sentence)
        return _COMMA.split(_with_subjects(sentence))

    return _stating(text, divide)


def sentences(text: str) -> list[tuple[str, bool]]:
    """Returns the same as `clauses`, but undivided: a reason is in another clause than what it is the reason of."""
    return _stating(text, lambda sentence: [sentence])


def _stating(text: str, divide: Callable[[str], list[str]]) -> list[tuple[str, bool]]:
    text = _ABBREVIATED.sub(f"{_DOT} ", own_words(text))  # the dot in "3. Mai" does not end a sentence
    found, corrects = list[tuple[str, bool]](), False
    for sentence in _SENTENCE.findall(text):
        opened = _opened(" ".join(sentence.split()))[0]
        if _OTHERS.match(opened):
            break
        if _JOKING.search(opened) and len(opened.split()) < SHORT:  # it is about the sentence before
            found = found[:-1]
        if sentence.rstrip().endswith("?") or len(sentence) > LONGEST or "…" in sentence or has_secret(sentence):
            corrects = False
            continue
        sentence = " ".join(sentence.replace(_DOT, ".").split())
        for short, long in _SHORT:
            sentence = short.sub(long, sentence)
        sentence = reworded(sentence)
        for clause in divide(sentence):
            clause, corrected = _opened(clause.strip(" ,–-"))
            corrects = corrects or corrected
            if clause.strip(" .!;,") and _is_own(clause):
                found.append((clause, corrects))
                corrects = False
    return found


def _is_own(clause: str) -> bool:
    """Returns whether it is neither supposed nor reported, nor a joke."""
    return not any(pattern.search(clause) for pattern in (_SUPPOSED, _REPORTED, _JOKING))


def _with_subjects(sentence: str) -> str:
    """Returns the sentence with "I" repeated before each verb that shares it, unless the first is only planned."""
    changed = sentence
    for _ in range(MOST_SHARING):
        sentence, changed = changed, _SHARED.sub(_with_subject, changed)
        if changed == sentence:
            break
    return changed


def _with_subject(found: re.Match[str]) -> str:
    if _NOT_YET.search(f"{found['first']} "):
        return found[0]
    return f"{found['who']} {found['first']}, and {found['who']} "


def own_words(text: str) -> str:
    """Returns the message with `…` in place of quoted or pasted text."""
    for pattern in (_CODE, _FENCE, _QUOTED):
        text = pattern.sub(" … ", text)
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">")).replace("’", "'")


def _opened(clause: str) -> tuple[str, bool]:
    """Returns the clause without its opening words, and whether these correct something."""
    corrects = False
    clause = f"{clause} "
    while opening := _OPENING.match(clause) or _CORRECTING.match(clause):
        corrects = corrects or bool(_CORRECTING.match(clause))
        clause = clause[opening.end() :]
    return clause.strip(), corrects
