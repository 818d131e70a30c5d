"""The chunk index: BM25 and vectors, fused."""

import os

# A search multiplies small matrices. More OpenBLAS threads do not speed that up, and after each product they spin on
# CPUs that the database could use. numpy reads the variable at import; a value that is already set stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
