"""Words of an invented language, with the word frequencies of a real one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
WORDS = 400_000
BATCH = 4096
SHIFT, EXPONENT = 2.7, 1.25  # Zipf-Mandelbrot: the frequency of rank r is proportional to (r + SHIFT) ** -EXPONENT
_STOP_WORDS = (  # by decreasing frequency
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which "
    "you were all one their there been if more when will would who so no she out up some than them into what can only "
    "other its could these two may then do first any my now such like our over me even most made after also did many "
    "before must through where much your way well down should because each just those how too very between"
)
_ONSETS = ("", *"bcdfghklmnprstvwz", *"bdfglmnprst", "br", "ch", "gr", "pl", "sh", "st", "th", "tr")
_NUCLEI = (*"aeiou", *"aeiou", "ai", "ea", "ou")
_CODAS = ("", "", "", "", "", "", *"lmnrst", "nd", "st")
_ENDINGS = ("", "", "", "", "", "", "", "", "s", "ed", "ing", "ion", "ment", "al", "er", "ity")


class Vocabulary:
    """`texts` by index: the stop words of English, then `WORDS` invented ones, by decreasing frequency."""

    def __init__(self, seed: int) -> None:
        dice = np.random.default_rng([seed, 1])
        stop_words = _STOP_WORDS.split()
        self.stop_words = len(stop_words)
        self.texts = np.array([*stop_words, *_invented(WORDS, dice)], dtype=object)
        ranks = np.arange(WORDS, dtype=np.float64)
        self._cumulated = np.cumsum((ranks + SHIFT) ** -EXPONENT)
        self._cumulated /= self._cumulated[-1]
        self._stop_cumulated = np.cumsum((np.arange(self.stop_words) + SHIFT) ** -1.0)
        self._stop_cumulated /= self._stop_cumulated[-1]

    def any_words(self, dice: np.random.Generator, count: int) -> Int64s:
        """Returns indexes of invented words, in proportion to their frequency."""
        return self.stop_words + np.searchsorted(self._cumulated, dice.random(count)).astype(np.int64)

    def stop_words_of(self, dice: np.random.Generator, count: int) -> Int64s:
        return np.searchsorted(self._stop_cumulated, dice.random(count)).astype(np.int64)

    def telling_words(self, dice: np.random.Generator, count: int) -> Int64s:
        """Returns indexes of words typical of a topic: neither the most frequent nor the rarest."""
        ranks = np.exp(dice.uniform(np.log(60), np.log(WORDS / 8), count))
        return self.stop_words + ranks.astype(np.int64)


def identifiers(dice: np.random.Generator, words: list[str]) -> list[str]:
    """Returns names like those of programs, tickets and versions, of two words each, nearly unique to a document."""
    found, numbers = [], dice.integers(10_000, size=len(words) // 2).tolist()
    for first, second, number in zip(words[::2], words[1::2], numbers, strict=True):
        forms = (
            f"{first.capitalize()}{second.capitalize()}",
            f"{first}_{second}",
            f"v{number // 1000}.{number // 10 % 100}.{number % 10}",
            f"{first[:3].upper()}-{number}",
            f"0x{number * 7919:06x}",
            f"{first}.{second}",
        )
        found.append(forms[number % len(forms)])
    return found


def _invented(count: int, dice: np.random.Generator) -> list[str]:
    """Returns distinct invented words; frequent ones are shorter, following Zipf."""
    found: dict[str, None] = {}
    while len(found) < count:
        longer = (dice.random(BATCH) < 0.35) + (dice.random(BATCH) < 0.25 * (len(found) > 5000))
        syllables = [
            np.array(_ONSETS)[dice.integers(len(_ONSETS), size=BATCH)].astype(object)
            + np.array(_NUCLEI)[dice.integers(len(_NUCLEI), size=BATCH)].astype(object)
            + np.array(_CODAS)[dice.integers(len(_CODAS), size=BATCH)].astype(object)
            for _ in range(4)
        ]
        counts = (1 + (len(found) > 200) + longer).tolist()
        endings = [_ENDINGS[index] for index in dice.integers(len(_ENDINGS), size=BATCH)]
        for count_of_one, ending, *parts in zip(counts, endings, *syllables, strict=True):
            word = "".join(parts[:count_of_one])
            if len(word) > 2:
                found[word + ending] = None
    return list(found)[:count]
