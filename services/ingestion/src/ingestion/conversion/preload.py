"""Imported once by the fork server, so that conversion processes start with everything loaded.

Nothing here may start a thread, because threads do not survive a fork. Sessions of onnxruntime have threads, so the
child builds them on demand.
"""

import ctypes
import gc
import os
import sys
import warnings
from importlib import import_module

M_ARENA_MAX = -8  # parameter of mallopt(3)

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["MALLOC_ARENA_MAX"] = "2"  # for programs that a child starts; mallopt below is for this process
if sys.platform == "linux":
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # absent from musl
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 2)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # warnings of third-party modules at import
    from ingestion.conversion.docling_formats import BACKENDS, backend

    for module in ("ingestion.conversion.child", "ingestion.conversion.pdf.layout"):
        import_module(module)
    from ingestion.conversion.language import LanguageDetector

    for kind in BACKENDS:
        backend(kind)

LANGUAGES = LanguageDetector()  # shared by the children, because loading it takes longer than most files

gc.collect()
gc.freeze()  # otherwise a collection in a child would write to, and so copy, every shared page
