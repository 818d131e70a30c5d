"""Imported once by the fork server, so that a conversion's process starts with everything already loaded.

Nothing here may start a thread: threads do not survive the fork. Sessions of onnxruntime have some, and are built in
the child, on demand.
"""

import ctypes
import gc
import os
import sys
import warnings
from importlib import import_module

M_ARENA_MAX = -8  # of mallopt(3)

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["MALLOC_ARENA_MAX"] = "2"  # read by what a child may start; this process is told below
if sys.platform == "linux":
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # absent from musl
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 2)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of other people's modules, at import
    from ingestion.conversion.docling_formats import BACKENDS, backend

    for module in ("ingestion.conversion.child", "ingestion.conversion.pdf.layout"):
        import_module(module)
    from ingestion.conversion.language import LanguageDetector

    for kind in BACKENDS:
        backend(kind)

LANGUAGES = LanguageDetector()  # shared by the children: loading it in each would take longer than most files

gc.collect()
gc.freeze()  # a collection in a child would otherwise write to, and so copy, every page it shares
