"""Runs in its own process: loads the model once, then extracts documents."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Sequence
from functools import cache
from multiprocessing import parent_process
from multiprocessing.connection import wait

from knowledge_graph.extraction.document import Methods, extract_all
from knowledge_graph.extraction.english_reader import EnglishReader, load_reader
from knowledge_graph.extraction.records import Extraction, SourceDocument

log = logging.getLogger(__name__)


def start() -> None:
    """Prepares the process: the parent decides when it ends, and it does not outlive a killed parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def run(documents: Sequence[SourceDocument], methods: Methods) -> tuple[list[Extraction], bool]:
    """Returns the documents' graphs, and whether a model for English was available."""
    reader = _reader(methods.dependency)
    return extract_all(documents, reader, methods), reader is not None


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
