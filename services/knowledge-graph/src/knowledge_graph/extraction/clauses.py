"""Who does what to whom, by the dependency parse: subject, verb phrase, object, each as places in the text.

Shapes of the Stanford dependencies as spaCy's English models label them: active, passive with agent, a preposition's
object, "X is the son of Y", apposition ("X, son of Y"), participles ("a film directed by X"), relative clauses, lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

SUBJECTS = frozenset({"nsubj", "nsubjpass"})
DOUBT = frozenset({"may", "might", "could", "would", "should", "can"})
OBJECTS = frozenset({"dobj", "dative", "oprd"})
DEFINITE = frozenset({"the", "this", "that", "its", "his", "her"})
MOST_STEPS = 20
IDENTITY = "IS"


@dataclass(frozen=True)
class Clause:
    """`subject` and `target` are the first characters of the two head words; `relation` is the verb's lemma with its
    preposition in upper snake (BORN_IN, DIRECT, SON_OF); `phrase` the verb phrase as written.

    A passive with its agent is `turned` round already. `reference` and `object_reference` are a pronoun ("he") or the
    noun of "the film" where that is the subject or the target, else "". With the relation IS, `phrase` is a noun that
    the subject is said to be.
    """

    subject: int
    target: int
    relation: str
    phrase: str
    reference: str = ""
    object_reference: str = ""
    turned: bool = False


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
    if any(child.dep_ == "neg" or (child.dep_ == "aux" and child.lower_ in DOUBT) for child in children):
        return
    subjects = _subjects(verb)
    if not subjects:
        return
    if verb.lemma_ == "be":
        for noun in (child for child in children if child.dep_ == "attr"):
            for subject in subjects:
                yield Clause(subject.idx, noun.idx, IDENTITY, noun.lemma_.lower(), _reference(subject))
                yield from _of_noun(noun, subject)
        return
    passive = (verb.dep_ == "acl" and verb.tag_ == "VBN") or any(
        child.dep_ in {"auxpass", "agent"} for child in children
    )
    for child in children:
        for relation, phrase, found, turned in _objects(child, verb, passive=passive):
            for target in (found, *found.conjuncts):
                for subject in subjects:
                    yield _clause(
                        target if turned else subject, subject if turned else target, relation, phrase, turned
                    )


def _objects(child: Token, verb: Token, *, passive: bool) -> Iterator[tuple[str, str, Token, bool]]:
    """Relation, phrase, object, and whether the object is who acts."""
    name = _name(verb)
    if child.dep_ in OBJECTS and child.pos_ != "ADP" and not passive:
        yield name, _written(verb, verb), child, False
    elif child.pos_ == "ADP" and child.dep_ in {"agent", "prep", "dative"}:
        turned = child.dep_ == "agent"
        relation = name if turned else f"{verb.text.upper() if passive else name}_{child.lower_.upper()}"
        for grand in child.children:
            if grand.dep_ == "pobj":
                yield relation, _written(verb, child), grand, turned


def _of_noun(noun: Token, subject: Token) -> Iterator[Clause]:
    """`noun` says what `subject` is: "the son of Lothair", "capital of France"."""
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
    """Returns the subjects of the verb itself, of the noun that it describes, or of the verb that it continues."""
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
    """Returns the verb phrase as written, from the first auxiliary to the preposition, without what lies between."""
    words = {child.i: child.text for child in verb.children if child.dep_ in {"aux", "auxpass", "prt"}}
    words |= {verb.i: verb.text, last.i: last.text}
    return " ".join(words[place] for place in sorted(words))
