"""One key for all spellings of a name: case, accents, possessive, plural, and how its words are joined."""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST_NAME = 120
WORD = re.compile(r"[^\W_]+")
ARTICLES = frozenset({"the", "a", "an"})
# Only of nouns that name parts of systems: to strip any "s" would make Adams and Adam one person.
PLURAL = re.compile(
    r"(service|router|database|db|api|server|client|worker|queue|gateway|module|package|controller|handler|table|"
    r"team|project|store|repository|system|component)s$"
)
STOP_WORDS = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "but",
        "if",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "with",
        "by",
        "from",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "he",
        "she",
        "they",
        "we",
        "you",
        "i",
        "his",
        "her",
        "their",
        "our",
        "your",
        "my",
        "who",
        "whom",
        "whose",
        "what",
        "which",
        "when",
        "where",
        "why",
        "how",
        "not",
        "no",
        "yes",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "will",
        "would",
        "there",
        "here",
        "then",
        "than",
        "so",
        "such",
        "only",
        "also",
        "all",
        "any",
        "each",
        "every",
        "some",
        "most",
        "more",
        "other",
        "another",
        "both",
        "either",
        "neither",
        "one",
        "two",
        "three",
        "first",
        "second",
        "third",
        "new",
        "old",
        "last",
        "next",
        "note",
        "todo",
        "see",
        "use",
        "used",
        "using",
        "example",
        "however",
        "therefore",
        "because",
        "while",
        "after",
        "before",
        "since",
        "until",
        "during",
        "between",
        "into",
        "over",
        "under",
        "about",
        "above",
        "below",
        "again",
        "once",
        "now",
        "today",
        "yesterday",
        "tomorrow",
        "figure",
        "table",
        "section",
        "chapter",
        "page",
        "appendix",
        "true",
        "false",
        "none",
        "null",
        "let",
        "if",
        "else",
        "return",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "please",
        "thanks",
        "given",
        "make",
        "get",
        "set",
        "put",
        "add",
        "run",
    ]
)


def name_key(surface: str) -> str:
    """`Auth Service`, `AuthService`, `auth_service` and `the auth-services` are all `authservice`; may be empty."""
    decomposed = unicodedata.normalize("NFKD", surface[: 2 * LONGEST_NAME])
    folded = "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()
    words = WORD.findall(re.sub(r"['’]s?\s*$", "", folded))
    if len(words) > 1 and words[0] in ARTICLES:
        words = words[1:]
    return PLURAL.sub(r"\1", "".join(words))[:LONGEST_NAME]


def entity_id(key: str) -> str:
    """The first 32 hex digits of the key's SHA-256: the same name is the same entity whatever document comes first."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def is_name(surface: str) -> bool:
    """False for what no graph wants as a node: stop words, numbers, single letters, whole sentences."""
    key = name_key(surface)
    words = surface.split()
    return (
        len(key) >= 2
        and len(surface) <= LONGEST_NAME
        and len(words) <= 8
        and surface.casefold() not in STOP_WORDS
        and any(char.isalpha() for char in key)
    )
