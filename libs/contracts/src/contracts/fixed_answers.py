"""Fixed answers with nothing to remember, for the services that give them and those that store answers."""

from __future__ import annotations

COURTESY = "At your service: ask me anything about the documents of this workspace."
NOTHING_FOUND = "I found nothing relevant to this in the documents."
NOT_NAMED = "I found nothing that names"
"""The beginning of an answer; the missing names follow, and quotes about others form a paragraph of their own."""
NO_REASON = {
    "en": "I found no sentence that gives the reason in so many words. The documents say:",
    "de": "Ich habe keinen Satz gefunden, der den Grund ausdrücklich nennt. In den Dokumenten steht:",
}
"""By language: introduces quotations that do not give the reason that was asked for."""
NOT_TOLD = {
    "en": "I found no sentence that tells of this. Nearest to it, the documents say:",
    "de": "Ich habe keinen Satz gefunden, der davon berichtet. Am nächsten kommt in den Dokumenten:",
}
"""By language: introduces quotations that do not tell of the event that the question supposes."""
NOT_WITHOUT_DOCUMENTS = "You asked for an answer without the documents, and there is no chat model to give one."
SEARCH_FAILED = "I could not search the documents just now, so this answer uses no sources."
IMAGES_UNSEEN = "I cannot see images here: "
"""The beginning of an answer; the reason follows, and what to do."""
NOTED = {
    ("on", False): "Noted: I will remember this.",
    ("on", True): "Notiert: Das merke ich mir.",
    ("review", False): "Noted: I will remember this once it is approved.",
    ("review", True): "Notiert: Das merke ich mir, sobald es bestätigt ist.",
}
"""By how the workspace keeps facts, and whether the answer is in German."""
WHICH_CORRECTED = {
    False: "I am not sure what this corrects, so I changed nothing. Please say it in a whole sentence.",
    True: "Ich bin nicht sicher, was das berichtigt, und habe nichts geändert. Bitte sag es in einem ganzen Satz.",
}
"""By whether the answer is in German."""
NOT_REMEMBERED = {
    False: "I remember nothing about that.",
    True: "Dazu habe ich mir nichts gemerkt.",
}
"""By whether the answer is in German: to a question about the person who asks."""
DOCUMENTS_SAY = {"en": "The documents say:", "de": "In den Dokumenten steht:"}
"""By language: introduces what the documents say, after memory's own answer."""
_ALL = frozenset(
    {
        *(COURTESY, NOTHING_FOUND, NOT_WITHOUT_DOCUMENTS, SEARCH_FAILED),
        *(*NOTED.values(), *WHICH_CORRECTED.values(), *NOT_REMEMBERED.values()),
    }
)


def says_nothing(answer: str) -> bool:
    """Returns whether the answer is one of these; "I found nothing" may be followed by what to try instead."""
    if answer.startswith(NOT_NAMED):
        return "\n" not in answer
    return answer in _ALL or answer.startswith((f"{NOTHING_FOUND}\n", IMAGES_UNSEEN))
