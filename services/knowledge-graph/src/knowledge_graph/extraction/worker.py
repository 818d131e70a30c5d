"""Runs in a process of its own: loads the model once, extracts document after document."""

from __future__ import annotations

import logging
import os
import signal
import threading
from functools import cache
from multiprocessing import parent_process
from multiprocessing.connection import wait

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.ner import Recogniser, load_recogniser
from knowledge_graph.extraction.records import Extraction, SourceDocument

log = logging.getLogger(__name__)


def start() -> None:
    """The parent decides when this process ends; it does not outlive a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def run(document: SourceDocument) -> Extraction:
    """The document's graph."""
    return extract(document, _recogniser())


@cache
def _recogniser() -> Recogniser | None:
    try:
        return load_recogniser()
    except (ImportError, OSError) as error:
        log.warning("no named-entity model, patterns go on alone: %s", error)
        return None


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
