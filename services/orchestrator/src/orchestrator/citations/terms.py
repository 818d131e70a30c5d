"""Extracts the terms of a text without a model, to find the sentence of a chunk that supports a claim."""

from __future__ import annotations

import re
from importlib.resources import files

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# Scripts without spaces between words are compared by pairs of characters.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
_LAST_OF_ENDINGS = frozenset("sgdey")
STOP_WORDS = frozenset(files("orchestrator.citations").joinpath("stop_words.txt").read_text("utf-8").split())


def terms(text: str) -> frozenset[str]:
    """Returns the content words in lower case, without endings."""
    found: set[str] = set()
    if text.isascii():
        return frozenset(
            stem(word)
            for word in _WORD.findall(text.lower())
            if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())
        )
    for word in _WORD.findall(text.lower()):
        for run in _UNSPACED.findall(word):
            found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        spaced = _UNSPACED.sub("", word)
        if spaced and spaced not in STOP_WORDS and (len(spaced) > 1 or spaced.isdigit()):
            found.add(stem(spaced))
    return frozenset(found)


def stem(word: str) -> str:
    """Removes endings, so that expire, expires, expired and expiring match, and copy, copied and copying."""
    if word[-1:] not in _LAST_OF_ENDINGS:
        return word
    for suffix, instead in (("ies", "i"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""), ("y", "i")):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not (suffix == "s" and word.endswith("ss")):
            cut = word.removesuffix(suffix) + instead
            return f"{cut[:-1]}i" if cut.endswith("y") and len(cut) > 3 else cut
    return word
