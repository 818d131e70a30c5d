"""The ingestion service: turns uploads and sources into chunks that can be searched and cited."""

import os

# Converters import ONNX Runtime, which otherwise reports its use to its maker.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
