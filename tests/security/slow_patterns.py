"""Finds the texts on which a regular expression takes more than linear time."""

from __future__ import annotations

import re
from time import thread_time
from typing import Any

from security.patterns import Found, attacks

LENGTH, SHORT = 4096, 512
# Small enough steps that none takes long, whatever the growth.
LENGTHS = (*range(8, 33, 4), 48, 96, 192, SHORT, LENGTH)
# For eight times the text, linear growth is 8, quadratic 64.
MOST_GROWTH = 24.0
# A sound pattern takes far less than this many scans of the same text by the simplest possible pattern.
LINEAR_SCANS = 400
SIMPLEST = re.compile("[^\x03]*")
EVERYWHERE = frozenset({"finditer", "findall", "sub", "subn", "split", "search"})


def _seconds(pattern: re.Pattern[Any], method: str, text: str) -> float:
    """Returns the CPU time of this thread, which does not depend on other processes."""
    subject: Any = text.encode("utf-8", "surrogateescape") if isinstance(pattern.pattern, bytes) else text
    began = thread_time()
    if method == "scan":
        for _ in pattern.finditer(subject):
            pass
    else:
        getattr(pattern, method)(subject)
    return thread_time() - began


def allowed_seconds(pattern: str | bytes = "") -> float:
    """Returns the seconds that a pattern may take on 4 KiB, scaled to this machine and to the pattern's length."""
    return LINEAR_SCANS * (1 + len(pattern) / 50) * min(_seconds(SIMPLEST, "match", "a" * LENGTH) for _ in range(20))


def _grows(pattern: re.Pattern[Any], method: str, attack: tuple[str, str, str], allowed: float) -> bool:
    """Returns whether the time explodes before 4 KiB, or grows much faster than the text."""
    prefix, pump, end = attack

    def text(length: int) -> str:
        return prefix + (pump * (length // len(pump) + 1))[:length] + end

    for length in LENGTHS:
        if _seconds(pattern, method, text(length)) > allowed and length < SHORT:
            return min(_seconds(pattern, method, text(length)) for _ in range(2)) > allowed
    if _seconds(pattern, method, text(LENGTH)) <= allowed:
        return False
    short = min(_seconds(pattern, method, text(SHORT)) for _ in range(5))
    long = min(_seconds(pattern, method, text(LENGTH)) for _ in range(3))
    return long > allowed and long > MOST_GROWTH * short


def slow_texts(found: Found, allowed: float) -> list[tuple[str, tuple[str, str, str]]]:
    """Returns the first attack of each method that succeeds."""
    methods = {"scan" if method in EVERYWHERE else method for method in found.methods}
    every = list(attacks(found.pattern))
    slow = ((one, next((a for a in every if _grows(found.pattern, one, a, allowed)), None)) for one in methods)
    return [(method, attack) for method, attack in slow if attack]
