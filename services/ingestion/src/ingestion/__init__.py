"""The ingestion service: turns uploads and sources into chunks that can be searched and cited."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # converters import ONNX Runtime, which reports its use otherwise
