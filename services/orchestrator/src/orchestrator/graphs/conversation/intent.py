"""Determines what a message wants from its words, in English and German. Pure; every pattern is linear."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

Route = Literal["reply", "generate_artifact", "rewrite_artifact", "update_artifact"]
# The valid routes without and with an artifact.
WITHOUT: tuple[Route, ...] = ("reply", "generate_artifact")
WITH: tuple[Route, ...] = ("reply", "rewrite_artifact", "update_artifact")
READ = 400  # characters of a message's beginning


@dataclass(frozen=True)
class Intent:
    """`sure`: the words are decisive; otherwise `route` is the default."""

    route: Route
    sure: bool


_WORDS = files("orchestrator.graphs.conversation").joinpath("intent.txt")


def _read() -> dict[str, list[str]]:
    """Returns the alternatives of the file's patterns: `[name]`, then words, separated by a comma and a space."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in _WORDS.read_text("utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(name, []).extend(word.strip() for word in line.split(", ") if word.strip())
    return found


_OF = {name: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE) for name, words in _read().items()}
_POLITE = re.compile(rf"{_OF['polite'].pattern}[\s,.!:-]{{1,3}}", re.IGNORECASE)
_ASKS_TO = re.compile(rf"{_OF['asks to'].pattern},?\s{{1,2}}", re.IGNORECASE)
_QUESTION, _CREATE, _DOCUMENT = _OF["question"], _OF["create"], _OF["document"]
_ADD, _REWRITE, _PART, _FRESH, _WHOLE = _OF["add"], _OF["rewrite"], _OF["part"], _OF["fresh"], _OF["whole"]


def intent_of(message: str, *, has_artifact: bool) -> Intent:
    """Returns the route of a message by its words; a message that asks something gets an answer."""
    text, is_request = without_courtesies(message[:READ])
    if _is_question(text, message, is_request=is_request):
        return Intent("reply", True)
    return _of_command_with(text) if has_artifact else _of_command_without(text)


def without_courtesies(text: str) -> tuple[str, bool]:
    """Returns the message without courtesies, and whether it asks somebody to do something."""
    text = text.strip()
    is_request = False
    for _ in range(4):
        polite = _POLITE.match(text)
        asks = _ASKS_TO.match(text)
        if polite:
            text = text[polite.end() :].lstrip()
        elif asks:
            text, is_request = text[asks.end() :].lstrip(), True
        else:
            break
    return text, is_request


def _is_question(text: str, message: str, *, is_request: bool) -> bool:
    if is_request:
        return bool(_QUESTION.match(text))
    return bool(_QUESTION.match(text)) or message.rstrip().endswith("?")


def _of_command_without(text: str) -> Intent:
    first = text[:60]
    if _CREATE.search(first):
        return Intent("generate_artifact", True) if _DOCUMENT.search(text) else Intent("reply", False)
    return Intent("reply", True)


def _of_command_with(text: str) -> Intent:
    first = text[:60]
    adds, rewrites, part = _ADD.search(first), _REWRITE.search(text), _PART.search(text)
    if rewrites and not (part and adds):
        return Intent("update_artifact", True) if part and not _WHOLE.search(text) else Intent("rewrite_artifact", True)
    if adds:
        return Intent("update_artifact", True)
    if _CREATE.search(first):
        if part:
            return Intent("update_artifact", True)
        if _DOCUMENT.search(text) and _FRESH.search(text):
            return Intent("rewrite_artifact", True)
    return Intent("reply", False)
