"""The chunk index: BM25 and vectors, fused."""

import os

# A search multiplies small matrices. Further threads of OpenBLAS make that no faster, and after each product they spin
# on processors that the database could use. It is read when numpy is imported; a value that is set already stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
