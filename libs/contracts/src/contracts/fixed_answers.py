"""Fixed answers with nothing to remember, for the services that give them and those that store answers."""

from __future__ import annotations

COURTESY = {
    "en": "At your service: ask me anything about the documents of this workspace.",
    "de": "Gern: Frag mich alles über die Dokumente dieses Arbeitsbereichs.",
}
"""By language, as those below."""
NOTHING_FOUND = {
    "en": "I found nothing relevant to this in the documents.",
    "de": "Ich habe dazu nichts Passendes in den Dokumenten gefunden.",
}
NOT_NAMED = {"en": "I found nothing that names {}.", "de": "Ich habe nichts gefunden, das {} nennt."}
"""The beginning of an answer, with the missing names; quotes about others form a paragraph of their own."""
NO_REASON = {
    "en": "I found no sentence that gives the reason in so many words. The documents say:",
    "de": "Ich habe keinen Satz gefunden, der den Grund ausdrücklich nennt. In den Dokumenten steht:",
}
"""Introduces quotations that do not give the reason that was asked for."""
NOT_TOLD = {
    "en": "I found no sentence that tells of this. Nearest to it, the documents say:",
    "de": "Ich habe keinen Satz gefunden, der davon berichtet. Am nächsten kommt in den Dokumenten:",
}
"""Introduces quotations that do not tell of the event that the question supposes."""
NOT_WITHOUT_DOCUMENTS = {
    "en": "You asked for an answer without the documents, and there is no chat model to give one.",
    "de": "Du wolltest eine Antwort ohne die Dokumente, und es gibt kein Sprachmodell, das sie geben könnte.",
}
SEARCH_FAILED = {
    "en": "I could not search the documents just now, so this answer uses no sources.",
    "de": "Ich konnte gerade nicht in den Dokumenten suchen, deshalb hat diese Antwort keine Quellen.",
}
IMAGES_UNSEEN = "I cannot see images here: "
"""The beginning of an answer; the reason follows, and what to do."""
NOTED = {
    ("on", "en"): "Noted: I will remember this.",
    ("on", "de"): "Notiert: Das merke ich mir.",
    ("review", "en"): "Noted: I will remember this once it is approved.",
    ("review", "de"): "Notiert: Das merke ich mir, sobald es bestätigt ist.",
}
"""By how the workspace keeps facts, and by language."""
WHICH_CORRECTED = {
    "en": "I am not sure what this corrects, so I changed nothing. Please say it in a whole sentence.",
    "de": "Ich bin nicht sicher, was das berichtigt, und habe nichts geändert. Bitte sag es in einem ganzen Satz.",
}
HOW_TO_FORGET = {
    "en": "A message deletes nothing. On the page Memory, or with `attractor memory forget`, you see what would go,"
    " and forget it.",
    "de": "Eine Nachricht löscht nichts. Auf der Seite Gedächtnis oder mit `attractor memory forget` siehst du, was"
    " wegfiele, und lässt es vergessen.",
}
NOT_REMEMBERED = {
    "en": "I remember nothing about that.",
    "de": "Dazu habe ich mir nichts gemerkt.",
}
"""To a question about the person who asks."""
DOCUMENTS_SAY = {"en": "The documents say:", "de": "In den Dokumenten steht:"}
"""Introduces what the documents say, after memory's own answer."""
_BY_LANGUAGE = (
    COURTESY,
    NOTHING_FOUND,
    NOT_WITHOUT_DOCUMENTS,
    SEARCH_FAILED,
    WHICH_CORRECTED,
    HOW_TO_FORGET,
    NOT_REMEMBERED,
)
_ALL = frozenset(NOTED.values()).union(*(texts.values() for texts in _BY_LANGUAGE))
_NOT_NAMED = tuple(text.partition("{}")[0] for text in NOT_NAMED.values())
_FOUND_NOTHING_BUT = tuple(f"{text}\n" for text in NOTHING_FOUND.values())


def says_nothing(answer: str) -> bool:
    """Returns whether the answer is one of these; "I found nothing" may be followed by what to try instead."""
    if answer.startswith(_NOT_NAMED):
        return "\n" not in answer
    return answer in _ALL or answer.startswith((*_FOUND_NOTHING_BUT, IMAGES_UNSEEN))
