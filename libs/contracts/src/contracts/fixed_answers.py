"""Answers that say nothing to remember, word for word: whoever gives them, and whoever keeps answers, has them here."""

from __future__ import annotations

COURTESY = "At your service: ask me anything about the documents of this workspace."
NOTHING_FOUND = "I found nothing relevant to this in the documents."
NOT_NAMED = "I found nothing that names"
"""How an answer begins that goes on with the names; what is told of others follows in a paragraph of its own."""
NO_REASON = {
    "en": "I found no sentence that gives the reason in so many words. The documents say:",
    "de": "Ich habe keinen Satz gefunden, der den Grund ausdrücklich nennt. In den Dokumenten steht:",
}
"""By language: what stands before quotations that do not say why, where that was asked."""
NOT_WITHOUT_DOCUMENTS = "You asked for an answer without the documents, and there is no chat model to give one."
SEARCH_FAILED = "I could not search the documents just now, so this answer uses no sources."
IMAGES_UNSEEN = "I cannot see images here: "
"""How an answer begins that goes on with the reason, and with what to do."""
NOTED = {
    ("on", False): "Noted: I will remember this.",
    ("on", True): "Notiert: Das merke ich mir.",
    ("review", False): "Noted: I will remember this once it is approved.",
    ("review", True): "Notiert: Das merke ich mir, sobald es bestätigt ist.",
}
"""By how the workspace keeps facts, and whether it is said in German."""
DOCUMENTS_SAY = {"en": "The documents say:", "de": "In den Dokumenten steht:"}
"""By language: what stands before what the documents say, where memory has answered already."""
_ALL = frozenset({COURTESY, NOTHING_FOUND, NOT_WITHOUT_DOCUMENTS, SEARCH_FAILED, *NOTED.values()})


def says_nothing(answer: str) -> bool:
    """Returns whether the answer is one of these; after "I found nothing" stands only what could be tried instead."""
    if answer.startswith(NOT_NAMED):
        return "\n" not in answer
    return answer in _ALL or answer.startswith((f"{NOTHING_FOUND}\n", IMAGES_UNSEEN))
