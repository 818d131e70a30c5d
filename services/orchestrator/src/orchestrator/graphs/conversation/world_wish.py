"""Determines a message's wish about the world state from its words, in English and German. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from orchestrator.graphs.conversation.intent import without_courtesies

LONGEST = 600
Act = Literal["set", "add", "remove", "show"]
_KINDS: Mapping[str, str] = {
    "goal": "/goals",
    "ziel": "/goals",
    "decision": "/decisions",
    "entscheidung": "/decisions",
    "rule": "/rules",
    "regel": "/rules",
    "topic": "/topics",
    "them": "/topics",
    "open question": "/open_questions",
    "offene": "/open_questions",
    "question": "/open_questions",
    "fragen": "/open_questions",
    "name": "/project/name",
    "projektname": "/project/name",
    "status": "/project/status",
    "projektstatus": "/project/status",
    "summary": "/project/summary",
    "zusammenfassung": "/project/summary",
    "time": "/timezone",
    "zeitzone": "/timezone",
}
"""The path that a noun means, by the beginning of the noun; a pattern without a noun is about the project's name."""
_OF_SESSION = re.compile(
    r" (?:in|for|of|für) (?:this|dieser?|dieses|diesem) (?:session|chat|conversation|sitzung|gespräch)$", re.IGNORECASE
)
_SHARED = re.compile(r"\b(?:project|workspace|session|projekt|arbeitsbereich|sitzung)", re.IGNORECASE)
_MENTIONED = re.compile(
    r"\b(?:(?:our|the (?:project|workspace|session)(?:'s)?) (?:\w+ )?(?:goals?|decisions?|rules?|topics?|time ?zone)"
    r"|open questions?|(?:project|workspace)(?:'s)? (?:name|status)"
    r"|unsere?[mnrs]? (?:\w+ )?(?:ziele?n?|entscheidung(?:en)?|regeln?|them(?:a|en)|zeitzone)|offenen? fragen?"
    r"|projekt(?:name|status))\b",
    re.IGNORECASE,
)
_BORDER = " \t\"'“”„«»‚‘’"


@dataclass(frozen=True)
class WorldWish:
    """`act` at `path`, with a text unless the act is to show; `of_session`: in the session's world."""

    act: Act
    path: str
    value: str
    of_session: bool
    german: bool


def world_wish(message: str, *, has_artifact: bool) -> WorldWish | None:
    """Returns the wish; None if the words are not clear. With an artifact, they must name what is meant."""
    if len(message) > LONGEST or "\n" in message.strip() or (has_artifact and not _SHARED.search(message)):
        return None
    text, is_request = without_courtesies(message)
    if is_request:
        text = text.rstrip("?").rstrip()
    bare = text.rstrip(" .!?")
    of_session = _OF_SESSION.search(bare)
    if of_session:
        bare = text = bare[: of_session.start()]
    for act, german, pattern in _PATTERNS:
        found = pattern.fullmatch(text) or pattern.fullmatch(bare)
        if found is None:
            continue
        named = found.groupdict()
        path = _path(named.get("noun"))
        value = value_of(named.get("value") or "", path)
        if value or act == "show":
            return WorldWish(act, path, value, of_session is not None, german)
    return None


def _path(noun: str | None) -> str:
    lowered = (noun or "name").lower()
    return next(path for begins, path in _KINDS.items() if lowered.startswith(begins))


def may_be_wish(message: str) -> bool:
    """Returns whether the message, which asks nothing, mentions a part of the world state as something of a project."""
    return len(message) <= LONGEST and not message.rstrip().endswith("?") and _MENTIONED.search(message) is not None


def value_of(text: str, path: str) -> str:
    """Returns the text without quotation marks and final punctuation; questions keep theirs."""
    return text.strip(_BORDER).rstrip(" .!" if path == "/open_questions" else " .!?").strip(_BORDER)


def _read() -> list[tuple[Act, bool, str]]:
    """Returns the file's patterns: `[act language]`, then one per line."""
    words: dict[str, str] = {}
    found: list[tuple[Act, bool, str]] = []
    act: Act = "show"
    german = False
    for line in files("orchestrator.graphs.conversation").joinpath("world_wish.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            name, language = line.strip("[]").split()
            act, german = _ACTS[name], language == "german"
        elif line.startswith("$"):
            name, _, means = line.partition(" = ")
            words[name] = means
        elif line and not line.startswith("#"):
            for name, means in words.items():
                line = line.replace(name, means)
            found.append((act, german, line))
    return found


_ACTS: Mapping[str, Act] = {"set": "set", "add": "add", "remove": "remove", "show": "show"}
_PATTERNS = [(act, german, re.compile(line, re.IGNORECASE)) for act, german, line in _read()]
