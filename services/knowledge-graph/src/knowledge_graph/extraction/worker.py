"""Runs in a process of its own: loads the model once, extracts document after document."""

from __future__ import annotations

import logging
import os
import signal
import threading
from functools import cache
from multiprocessing import parent_process
from multiprocessing.connection import wait

from knowledge_graph.extraction.document import Methods, extract
from knowledge_graph.extraction.english_reader import EnglishReader, load_reader
from knowledge_graph.extraction.records import Extraction, SourceDocument

log = logging.getLogger(__name__)


def start() -> None:
    """The parent decides when this process ends; it does not outlive a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def run(document: SourceDocument, methods: Methods) -> tuple[Extraction, bool]:
    """The document's graph, and whether there is a model to read English with."""
    reader = _reader(methods.dependency)
    return extract(document, reader, methods), reader is not None


@cache
def _reader(parse: bool) -> EnglishReader | None:
    try:
        return load_reader(parse=parse)
    except (ImportError, OSError) as error:
        log.warning("no language model; extracting with patterns only: %s", error)
        return None


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
