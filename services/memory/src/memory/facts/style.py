"""Reads from a wish how a user wants texts written: spelling, lists, emojis, length, language. No I/O.

"Write a report on caching" is a task, not a style; "write it in British spelling" is both. A user has one value per
aspect, so a later wish replaces an earlier one, and the same wish in other words changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from contracts.memory import MemoryKind
from contracts.reflections import StyleAspect
from memory.facts.statements import USER, StatedFact

WANTS = "wants {aspect}"
_NOT = r"(?:no|without|avoid|do not use|never use|keine|ohne|vermeide|verwende keine|benutze keine)(?: any)?"
_WITH = r"(?:always use|use|using|with|in|as|mit|als|verwende|benutze)(?: short)?"
_IN = r"(?:(?:in|use|using|with) |^)"
_BULLETS = r"(?:bullet(?:ed)?[ -](?:points?|lists?)|bullets|aufzählung(?:en|spunkte)?|stichpunkten?)"
_LANGUAGES = {
    "german": "german|deutsch",
    "english": "english|englisch",
    "french": "french|französisch",
    "spanish": "spanish|spanisch",
    "italian": "italian|italienisch",
}
_VERBS = r"(?:answer|reply|respond|write|antworte|schreibe?)"
_ALWAYS = r"(?:always|from now on,?|in future,?|immer|ab jetzt|künftig)"
_PATTERNS: tuple[tuple[StyleAspect, str, str], ...] = (
    (StyleAspect.spelling, "british", rf"{_IN}(?:british|uk) (?:english|spelling)"),
    (StyleAspect.spelling, "american", rf"{_IN}(?:american|us) (?:english|spelling)"),
    (StyleAspect.lists, "none", rf"{_NOT} {_BULLETS}"),
    (StyleAspect.lists, "bullets", rf"{_WITH} {_BULLETS}"),
    (StyleAspect.emojis, "none", rf"{_NOT} emojis?"),
    (StyleAspect.emojis, "some", rf"{_WITH} emojis?"),
    (StyleAspect.length, "short", r"keep (?:it|your answers|answers|texts|everything) (?:short|brief|concise)"),
    (
        StyleAspect.length,
        "short",
        r"be (?:brief|concise)|fass dich kurz|(?:in )?(?:short|kurzen?) (?:sentences|sätzen?)",
    ),
    (StyleAspect.length, "short", rf"{_VERBS} (?:more )?(?:briefly|concisely|kurz|knapp)"),
    (StyleAspect.length, "long", rf"be (?:detailed|thorough)|{_VERBS} (?:in detail|at length|ausführlich)"),
    (StyleAspect.address, "du", r"duze(?: mich)?"),
    (StyleAspect.address, "sie", r"sieze(?: mich)?"),
    (StyleAspect.units, "metric", r"(?:use |in |with )metric(?: units)?"),
    (StyleAspect.units, "imperial", r"(?:use |in |with )imperial(?: units)?"),
    *(
        (StyleAspect.language, name, rf"(?:{_ALWAYS} (?:{_VERBS} )?|{_VERBS} )(?:in|auf) (?:{words})")
        for name, words in _LANGUAGES.items()
    ),
)
_STYLES = tuple(
    (aspect, value, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for aspect, value, pattern in _PATTERNS
)
# Words for wishes that apply from now on, not only to the requested text.
_LASTING = re.compile(
    r"(?:please |bitte )?(?:always|never|from now on|in future|immer|nie|ab jetzt|künftig|keep |avoid |do not use "
    r"|address |speak |duze|sieze|fass dich|be |use (?:bullet|short|metric)|i |ich )",
    re.IGNORECASE,
)
_POLITE = re.compile(r"(?:please|bitte),? ", re.IGNORECASE)


@dataclass(frozen=True)
class StylePhrase:
    """The words of a clause, from `start` on, that state one aspect of a style."""

    aspect: StyleAspect
    value: str
    text: str
    start: int


def phrases(clause: str) -> Iterator[StylePhrase]:
    """Yields the first phrase of each aspect, in the order of the table."""
    found = set[StyleAspect]()
    for aspect, value, pattern in _STYLES:
        if aspect not in found and (at := pattern.search(clause)):
            found.add(aspect)
            yield StylePhrase(aspect, value, at[0], at.start())


def styled(clause: str, wish: StatedFact | None) -> Iterator[StatedFact]:
    """Yields the styles in a clause; `wish` is the whole clause as a statement, if it says how to write or answer.

    Without a wish, the clause must begin with a style ("British spelling, please"); otherwise it is about something
    else.
    """
    style_phrases = list(phrases(clause))
    if wish is None:
        begin = polite.end() if (polite := _POLITE.match(clause)) else 0
        if any(one.start == begin for one in style_phrases):
            yield from (_stated(one) for one in style_phrases)
    elif _LASTING.match(wish.object) or _LASTING.match(clause):
        if len(style_phrases) == 1:
            yield replace(
                wish,
                predicate=WANTS.format(aspect=style_phrases[0].aspect),
                object=style_phrases[0].value,
                values="one",
            )
        elif style_phrases:
            yield from (_stated(one) for one in style_phrases)
        else:
            yield wish
    else:
        yield from (_stated(one) for one in style_phrases)


def of_aspect(aspect: StyleAspect | None, text: str) -> StatedFact:
    """Returns the style that a sentence states: the value that its words give for the aspect, or else the sentence."""
    style_phrases = next((one for one in phrases(text) if aspect in (None, one.aspect)), None)
    if style_phrases is not None:
        return replace(_stated(style_phrases), text=text)
    if aspect is None:
        return StatedFact(MemoryKind.style, text, USER, "wants answers", text)
    return StatedFact(MemoryKind.style, text, USER, WANTS.format(aspect=aspect), text, "one")


def _stated(style_phrases: StylePhrase) -> StatedFact:
    text = f"{style_phrases.text[:1].upper()}{style_phrases.text[1:]}."
    return StatedFact(
        MemoryKind.style, text, USER, WANTS.format(aspect=style_phrases.aspect), style_phrases.value, "one"
    )
