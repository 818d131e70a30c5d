"""Detects the language of a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from py3langid.langid import MODEL_FILE, LanguageIdentifier

if TYPE_CHECKING:
    from collections.abc import Iterable

SAMPLE = 8000  # characters
FEWEST_LETTERS = 24  # a third is enough in scripts where a letter is a word or a syllable
SURE = 0.9  # probability
NO_LANGUAGE = "zxx"  # ISO 639-2 for content without words, such as code
CODE = re.compile(r"[a-z]{2}(?=$|[-_@.])")
NOT_PROSE = re.compile(r"\b\w+://\S+|(?<!\S)\S+@\S+|`[^`\n]*`|[\d_]+")


class LanguageDetector:
    """Detects with py3langid's naive Bayes model over byte n-grams (Lui and Baldwin, 2012), included in its wheel.

    Loading takes half a second and 60 MB.
    """

    def __init__(self) -> None:
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self._identifier.set_languages([each for each in self._identifier.labels if len(each) == 2] + [NO_LANGUAGE])

    def language(self, parts: Iterable[str], declared: str | None = None) -> str | None:
        """Returns the ISO 639-1 code of the language of `parts`, or the declared one if the result is uncertain."""
        sample = NOT_PROSE.sub(" ", _sample(parts))
        letters = sum(3 if ord(character) > 0x2E80 else 1 for character in sample if character.isalpha())
        if letters >= FEWEST_LETTERS:
            found, confidence = self._identifier.classify(sample)
            if confidence >= SURE:
                return None if found == NO_LANGUAGE else str(found)
        code = CODE.match((declared or "").strip().lower())
        return code[0] if code and code[0] in self._identifier.labels else None


def _sample(parts: Iterable[str]) -> str:
    taken: list[str] = []
    left = SAMPLE
    for part in parts:
        taken.append(part[:left])
        left -= len(taken[-1])
        if left <= 0:
            break
    return "\n".join(taken)
