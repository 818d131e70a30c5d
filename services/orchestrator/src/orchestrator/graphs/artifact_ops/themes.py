"""Puts the options of a theme into words. Pure."""

from __future__ import annotations

from typing import Any

LENGTHS = {
    "shortest": "Make it much shorter: a quarter of its length, with only what matters most.",
    "short": "Make it shorter: about half its length.",
    "long": "Make it longer: about twice its length, with more detail where it serves the reader.",
    "longest": "Make it much longer: about four times its length, with detail, examples and explanations.",
}
LEVELS = {
    "pirate": "Write it as a pirate would speak.",
    "child": "Write it so that a child in primary school understands it.",
    "teenager": "Write it so that a teenager understands it and likes to read it.",
    "college": "Write it for readers at college.",
    "expert": "Write it for experts of its subject, with the terms of the field.",
}
NAMES = {"c": "C", "cpp": "C++", "csharp": "C#", "html": "HTML", "php": "PHP", "sql": "SQL"} | {
    name: name.capitalize() for name in ("go", "java", "kotlin", "python", "ruby", "rust")
}
NAMES |= {"javascript": "JavaScript", "typescript": "TypeScript"}
EMOJIS = "Add fitting emojis to headings and sentences. Change no other word."
COMMENTS = "Add comments that explain what the code does and why. Change no other line."
LOGS = "Add logging where it helps to follow what the code does. Change nothing else."
BUGS = "Find the bugs of the code and fix them. Change nothing else."


def wish_of(theme: dict[str, Any]) -> str:
    """Returns the instructions of all options that are set."""
    wishes = []
    if language := theme.get("language"):
        wishes.append(f"Translate it into {str(language).capitalize()}. Keep the citation markers.")
    if length := theme.get("artifact_length"):
        wishes.append(LENGTHS[length])
    if level := theme.get("reading_level"):
        wishes.append(LEVELS[level])
    if port := theme.get("port_language"):
        wishes.append(f"Port the code to {NAMES[port]}.")
    for name, wish in (
        ("regenerate_with_emojis", EMOJIS),
        ("add_comments", COMMENTS),
        ("add_logs", LOGS),
        ("fix_bugs", BUGS),
    ):
        if theme.get(name):
            wishes.append(wish)
    return " ".join(wishes)


def summary_of(theme: dict[str, Any]) -> str:
    """Returns a description of what was done, for people."""
    settings = ", ".join(
        f"{name.replace('_', ' ')} {value}" for name, value in theme.items() if value not in (None, True)
    )
    flags = ", ".join(name.replace("_", " ") for name, value in theme.items() if value is True)
    return f"I rewrote the document ({', '.join(one for one in (settings, flags) if one)})."
