"""Estimates the cost of a search before it is forwarded. Pure."""

from __future__ import annotations

import json
import math

CHARACTERS = 1_000  # characters of one wording that cost as much as an ordinary search
HITS = 20  # hits with highlights or explanations that cost as much
UNITS_IN_FLIGHT = 5  # tokens that count as one request in progress


def tokens(body: bytes) -> int:
    """Returns the tokens of a search: 1 for an ordinary question, more for further wordings, characters and hits.

    A body that is not a search costs 1; the service refuses it.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return 1
    if not isinstance(request, dict):
        return 1
    further = request.get("queries")
    queries = [request.get("query"), *(further if isinstance(further, list) else [])]
    wordings = [text for text in queries if isinstance(text, str)]
    characters = sum(map(len, wordings))
    cost = len(wordings) + characters * len(wordings) // CHARACTERS
    hits = request.get("k", request.get("top_k"))
    if (request.get("highlight") or request.get("explain")) and isinstance(hits, int):
        cost += min(hits, 1_000) // HITS
    return max(1, cost)


def weight(cost: int) -> int:
    """Returns as how many requests in progress a search of this cost counts."""
    return math.ceil(cost / UNITS_IN_FLIGHT)
