"""Keeps secrets out of memory: keys, passwords and card numbers are blanked before a text is stored. No I/O."""

from __future__ import annotations

import re

BLANK = "[secret]"

_WORDS = (
    r"pass(?:word|wd|phrase|code)|passwort|kennwort|pin|secret|api[ _-]?key|access[ _-]?key|secret[ _-]?key"
    r"|(?:access|auth|bearer|api|refresh)[ _-]?token|token"
)
# "my password is hunter2", "API key: abc": the word that follows is the secret, whatever it looks like.
_INTRODUCED = re.compile(
    rf"(?i)\b(?:{_WORDS})\b(?: (?:is|was|are|lautet|ist|für \w{{1,40}} ist|for \w{{1,40}} is))?(?: now| jetzt)?"
    r"\s?[:=]?\s?"
    r"[\"'`„“]?(?P<secret>[^\s\"'`“”]{4,200})"
)
_PREFIXED = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,200}|\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,200}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,200}|\bgithub_pat_\w{20,200}|\bxox[abprs]-[A-Za-z0-9-]{10,200}|\bAIza[\w-]{30,60}"
    r"|\beyJ[\w-]{8,2000}\.[\w-]{8,2000}\.[\w-]{8,2000}|\bglpat-[\w-]{16,200}|\batt_[A-Za-z0-9]{16,200}"
)
_PEM = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?")
_LONG = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{32,4000}={0,2}(?![\w+/=-])")
_DIGITS = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w.])")
_INTRODUCES = re.compile(r"(?i)[:=]|\b(?:is|was|are|lautet|ist)\b")
# "the password is wrong" does not reveal one.
_STATES = frozenset(
    ("is", "was", "are", "ist", "required", "wrong", "expired", "changed", "strength", "field", "policy", "manager")
).union(("protected", "reset", "correct", "invalid", "valid", "needed", "missing", "falsch", "abgelaufen"))


def without_secrets(text: str) -> str:
    """Returns the text with its secrets blanked."""
    text = _PEM.sub(BLANK, text)
    text = _PREFIXED.sub(BLANK, text)
    text = _LONG.sub(lambda found: BLANK if _is_random(found[0]) else found[0], text)
    text = _DIGITS.sub(lambda found: BLANK if _is_card(found[0]) else found[0], text)
    return _INTRODUCED.sub(_blanked, text)


def has_secret(text: str) -> bool:
    """Returns whether the text has a secret, or one that was blanked."""
    return BLANK in without_secrets(text)


def _blanked(found: re.Match[str]) -> str:
    secret = found["secret"].rstrip(".,;!?)")
    introduction = found[0][: found.start("secret") - found.start()]
    if not _INTRODUCES.search(introduction) or secret.lower() in _STATES or secret == BLANK:
        return found[0]
    has_sign = any(not one.isalpha() for one in secret) or ":" in introduction or "=" in introduction
    if not has_sign and secret.islower() and len(secret) < 6:
        return found[0]
    return found[0].replace(secret, BLANK)


def _is_random(text: str) -> bool:
    """Returns whether a long run of mixed letters and digits looks like a key, and not like a word, path or name."""
    digits = sum(map(str.isdigit, text))
    letters = sum(map(str.isalpha, text))
    return digits >= 4 and letters >= 4 and text.count("/") < 3 and not _is_uuid(text)


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and [len(part) for part in text.split("-")] == [8, 4, 4, 4, 12]


def _is_card(text: str) -> bool:
    """Returns whether the digits pass Luhn's check (ISO/IEC 7812-1)."""
    digits = [int(one) for one in text if one.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(digits[::-1])]
    return sum(doubled) % 10 == 0 and any(digits)
