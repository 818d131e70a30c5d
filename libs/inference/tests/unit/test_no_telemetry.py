"""ONNX Runtime tells nobody that it is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inference.encoder_files import bundled_files

LOADED = "import onnxruntime as ort; ort.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])"


@pytest.mark.parametrize("package", ["inference", "ingestion.conversion"])
def test_a_process_that_loads_a_model_keeps_no_record_of_it(package: str, tmp_path: Path) -> None:
    own = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    own.pop("ORT_DISABLE_TELEMETRY", None)
    code = f"import sys, {package}; {LOADED}"
    subprocess.run([sys.executable, "-c", code, str(bundled_files().model_file)], env=own, check=True, timeout=120)
    assert list(tmp_path.rglob("*onnxruntime*")) == []
