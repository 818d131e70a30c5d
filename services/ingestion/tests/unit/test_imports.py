"""The API imports no libraries of conversions or models, which its image lacks."""

from __future__ import annotations

import subprocess
import sys


def test_the_api_imports_no_libraries_of_the_workers() -> None:
    heavy = {"docling", "docling_core", "numpy", "onnxruntime", "inference", "tokenizers", "rapidocr", "tree_sitter"}
    script = f"import sys, ingestion.app; sys.exit(' '.join({heavy!r} & set(sys.modules)) or 0)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
