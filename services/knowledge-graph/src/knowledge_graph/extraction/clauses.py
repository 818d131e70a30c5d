"""Finds who does what to whom by the dependency parse: subject, verb phrase, object, each as places in the text.

Covers these shapes of the Stanford dependencies, as spaCy's English models label them: active, passive with agent, a
preposition's object, "X is the son of Y", apposition ("X, son of Y"), participles ("a film directed by X"), relative
clauses, lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from knowledge_graph.extraction.names import PARTS
from knowledge_graph.extraction.relation_types import VERBS
from knowledge_graph.extraction.tenses import CURRENT, DOUBT, NEGATED, of_denied, of_verb

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

SUBJECTS = frozenset({"nsubj", "nsubjpass"})
OBJECTS = frozenset({"dobj", "dative", "oprd"})
NONE_OF = frozenset({"neither", "no", "nor"})
NEAR = 4
"""Maximum words between "neither" and the subject's head: "Neither the old Fee Ledger"."""
NOTHING = frozenset({"nothing", "none", "nobody"})
COPIES = frozenset(
    {"replica", "copy", "mirror", "version", "table", "cluster", "interface", "api", "schema", "database"}
)
DEFINITE = frozenset({"the", "this", "that", "its", "his", "her"})
COMPARES = frozenset({"like", "unlike"})
MOST_STEPS = 20
FLOWS = frozenset({"lie", "go"})
"""Verbs read like a passive: if goods or data lie somewhere, somebody put them there."""
IDENTITY = "IS"
SECTION = "§"
SPOKEN_OF = ""


@dataclass(frozen=True)
class Clause:
    """A clause. `subject` and `target` are the positions of the two head words; `relation` is the verb's lemma with its
    preposition in upper snake case (BORN_IN, DIRECT, SON_OF); `phrase` is the verb phrase as written.

    A passive with an agent is already `turned` round; `time` is one of the values in `tenses`. `reference` and
    `object_reference` are the pronoun ("he") or noun ("the film") that is the subject or target, else "". Special
    values: with the relation IS, `phrase` is a noun that describes the subject. With SPOKEN_OF the clause states
    nothing, because the verb is denied or doubted or has no object; subject and target are the same, and a later
    pronoun can refer to it. What a denied verb denies follows as clauses of its own. With the reference SECTION the
    text does not name who acts: "each boarding is handed to X", "charges go through X".
    """

    subject: int
    target: int
    relation: str
    phrase: str
    reference: str = ""
    object_reference: str = ""
    turned: bool = False
    time: str = CURRENT


def clauses(document: Doc) -> Iterator[Clause]:
    """Yields the clauses in the order of the text."""
    for token in document:
        if token.pos_ in {"VERB", "AUX"}:
            yield from _of_verb(token)
        elif token.dep_ == "appos":
            yield from _of_noun(token, token.head)
            if token.head.pos_ == "NOUN":  # "her novel, The Silent River, …"
                yield Clause(token.idx, token.head.idx, IDENTITY, token.head.lemma_.lower())


def _of_verb(verb: Token) -> Iterator[Clause]:
    children = list(verb.children)
    subjects = _subjects(verb)
    if not subjects or _repeats(verb):
        return
    above = [*children, *(child for head in _carriers(verb) for child in head.children)]
    if any(_denies(child) for child in above) or any(_is_none(subject) for subject in subjects):
        yield from (Clause(subject.idx, subject.idx, SPOKEN_OF, "") for subject in subjects)
        if not any(_doubts(child) for child in above):
            yield from _denied(verb, children, subjects)
        return
    if verb.lemma_ == "be":
        yield from _identities(children, subjects)
        return
    passive = _is_passive(verb, children)
    if not any(True for child in children for _ in _objects(child, verb, passive=passive)):
        yield from (Clause(subject.idx, subject.idx, SPOKEN_OF, "") for subject in subjects)
    alike = [] if passive else _likewise(children)
    yield from _statements(verb, children, [*subjects, *alike], of_verb(verb), passive=passive)
    if alike:  # "X asks Y, as Z does. It …" refers to X
        yield from (Clause(subject.idx, subject.idx, SPOKEN_OF, "") for subject in subjects)


def _is_none(subject: Token) -> bool:
    """Returns whether the subject is negated: "Neither A nor B uses C"."""
    before = subject.doc[max(subject.sent.start, subject.i - NEAR) : subject.i]
    return any(one.lower_ in {"neither", "nor"} for one in before)


def _carriers(verb: Token) -> list[Token]:
    """Returns the verbs that govern this one: "has never had" in "has never had to use"."""
    found: list[Token] = []
    while verb.dep_ == "xcomp" and len(found) < MOST_STEPS and not any(one.dep_ in SUBJECTS for one in verb.children):
        verb = verb.head
        found.append(verb)
    return found


def _denied(verb: Token, children: Sequence[Token], subjects: Sequence[Token]) -> Iterator[Clause]:
    """Yields what the verb denies."""
    time = of_denied(verb)
    if verb.lemma_ != "be":
        yield from _statements(verb, children, subjects, time, passive=_is_passive(verb, children))
        return
    for noun in (child for child in children if child.dep_ == "attr"):
        for subject in subjects:
            yield from (replace(one, time=time) for one in _of_noun(noun, subject))


def _is_passive(verb: Token, children: Sequence[Token]) -> bool:
    return (verb.dep_ == "acl" and verb.tag_ == "VBN") or any(child.dep_ in {"auxpass", "agent"} for child in children)


def _statements(
    verb: Token, children: Sequence[Token], subjects: Sequence[Token], time: str, *, passive: bool
) -> Iterator[Clause]:
    if any(_is_nothing(child) for child in children):
        time = NEGATED if time == CURRENT else time
    for child in children:
        for relation, phrase, found, turned in _objects(child, verb, passive=passive):
            # "reads neither X nor Y"
            tense = NEGATED if any(grand.lower_ in NONE_OF for grand in found.children) else time
            targets = [_whole(found), *map(_whole, found.conjuncts)]
            for pair in _pairs(subjects, targets, children):
                subject, target = map(_bearing, pair)
                ends = (target, subject) if turned else (subject, target)
                if not turned and subject.pos_ == "NOUN" and (passive or verb.lemma_ in FLOWS):
                    acted = f"{_name(verb)}_{child.lower_.upper()}"
                    yield Clause(subject.idx, target.idx, acted, phrase, SECTION, time=tense)
                yield replace(_clause(*ends, relation, phrase, turned), time=tense)


def _is_nothing(child: Token) -> bool:
    """Returns whether the child is "nothing" or "no …" as subject or object: "reads nothing from X"."""
    is_end = child.dep_ in OBJECTS or child.dep_ in SUBJECTS
    return is_end and (
        child.lower_ in NOTHING or any(grand.lower_ == "no" and grand.dep_ == "det" for grand in child.children)
    )


def _pairs(
    subjects: Sequence[Token], targets: Sequence[Token], children: Sequence[Token]
) -> Iterator[tuple[Token, Token]]:
    """Yields each subject with each target, or pairs in order: "A and B use C and D respectively"."""
    near = (*children, *(grand for child in children for grand in child.children))
    if len(subjects) == len(targets) > 1 and any(one.lower_ == "respectively" for one in near):
        yield from zip(subjects, targets, strict=True)
        return
    yield from ((subject, target) for target in targets for subject in subjects)


def _repeats(verb: Token) -> bool:
    """Returns whether the verb stands for another one: "as A and B do"."""
    return verb.lemma_ == "do" and verb.dep_ == "advcl" and any(child.lower_ == "as" for child in verb.children)


def _likewise(children: Sequence[Token]) -> list[Token]:
    """Returns the names of which the same is said: "as A and B do", "Like A, …"."""
    found = []
    for child in children:
        if _repeats(child):
            found += [grand for grand in child.children if grand.dep_ in SUBJECTS or grand.dep_ in OBJECTS]
        elif child.lower_ == "like" and child.dep_ == "prep":
            found += [grand for grand in child.children if grand.dep_ == "pobj"]
    return [one for each in found for one in (each, *each.conjuncts)]


def _bearing(noun: Token) -> Token:
    """Returns the name in front of a kind: Heron for "the Heron team"."""
    before = noun.nbor(-1) if noun.i > noun.sent.start else noun
    is_name = before.head == noun and before.dep_ in {"compound", "amod"} and before.text[0].isupper()
    return before if is_name and noun.lemma_.lower() in PARTS else noun


def _whole(noun: Token) -> Token:
    """Returns the Seat Ledger for "the replica of the Seat Ledger": reading a copy is reading the original."""
    if noun.lemma_.lower() in COPIES:
        for child in noun.children:
            if child.lower_ == "of":
                return next((grand for grand in child.children if grand.dep_ == "pobj"), noun)
    return noun


def _identities(children: Sequence[Token], subjects: Sequence[Token]) -> Iterator[Clause]:
    for noun in (child for child in children if child.dep_ == "attr"):
        for subject in subjects:
            yield Clause(subject.idx, noun.idx, IDENTITY, noun.lemma_.lower(), _reference(subject))
            yield from _of_noun(noun, subject)


def _denies(child: Token) -> bool:
    return child.dep_ == "neg" or _doubts(child)


def _doubts(child: Token) -> bool:
    return child.dep_ == "aux" and child.lower_ in DOUBT


def _objects(child: Token, verb: Token, *, passive: bool) -> Iterator[tuple[str, str, Token, bool]]:
    """Yields relation, phrase, object, and whether the object is the one who acts."""
    name = _name(verb)
    if child.dep_ in OBJECTS and child.pos_ != "ADP" and not passive:
        yield name, _written(verb, verb), child, False
        for preposition in child.children:  # "reads orders from X and recipes from Y"
            relation = f"{name}_{preposition.lower_.upper()}"
            if preposition.dep_ == "prep" and relation in VERBS:
                found = (grand for grand in preposition.children if grand.dep_ == "pobj")
                yield from ((relation, _written(verb, preposition), one, False) for one in found)
    elif child.pos_ == "ADP" and child.dep_ in {"agent", "prep", "dative"} and child.lower_ not in COMPARES:
        turned = child.dep_ == "agent"
        relation = name if turned else f"{verb.text.upper() if passive else name}_{child.lower_.upper()}"
        for one in (child, *(other for other in child.conjuncts if other.pos_ == "ADP")):  # "on X and on Y"
            for grand in one.children:
                if grand.dep_ == "pobj":
                    yield relation, _written(verb, child), grand, turned


def _of_noun(noun: Token, subject: Token) -> Iterator[Clause]:
    """Yields what the noun says about the subject: "the son of Lothair", "capital of France"."""
    if noun.pos_ != "NOUN":
        return
    for child in noun.children:
        if child.dep_ == "prep":
            for grand in child.children:
                if grand.dep_ == "pobj":
                    relation, phrase = f"{noun.lemma_}_{child.lower_}".upper(), f"{noun.text} {child.text}"
                    for target in (grand, *grand.conjuncts):
                        yield _clause(subject, target, relation, phrase, False)


def _clause(subject: Token, target: Token, relation: str, phrase: str, turned: bool) -> Clause:
    return Clause(subject.idx, target.idx, relation, phrase, _reference(subject), _reference(target), turned)


def _reference(token: Token) -> str:
    if token.pos_ == "PRON":
        return token.lower_
    is_definite = token.pos_ == "NOUN" and (
        token.dep_ in {"attr", "conj"} or any(child.lower_ in DEFINITE for child in token.children)
    )
    return token.lemma_.lower() if is_definite else ""


def _subjects(verb: Token) -> list[Token]:
    """Returns the subjects of the verb, or else of the noun that it describes or the verb that it continues."""
    for _ in range(MOST_STEPS):
        found = [child for child in verb.children if child.dep_ in SUBJECTS]
        if verb.dep_ == "relcl" and (not found or found[0].tag_ in {"WP", "WDT"}):
            found = [verb.head]
        if found:
            return [one for subject in found for one in (subject, *subject.conjuncts)]
        if verb.dep_ == "acl":
            return [verb.head]
        if verb.dep_ not in {"conj", "xcomp", "advcl"} or verb.head.pos_ not in {"VERB", "AUX"}:
            return []
        verb = verb.head
    return []


def _name(verb: Token) -> str:
    particle = next((child.lower_ for child in verb.children if child.dep_ == "prt"), "")
    return (f"{verb.lemma_}_{particle}" if particle else verb.lemma_).upper()


def _written(verb: Token, last: Token) -> str:
    """Returns the verb phrase as written, from the first auxiliary to the preposition, without the words between."""
    words = {child.i: child.text for child in verb.children if child.dep_ in {"aux", "auxpass", "prt"}}
    words |= {verb.i: verb.text, last.i: last.text}
    return " ".join(words[place] for place in sorted(words))
