"""Ports and adapters for chat, embedding, reranking and entailment models."""

import os

os.environ.setdefault(
    "ORT_DISABLE_TELEMETRY", "1"
)  # ONNX Runtime reads it when it is imported, and reports its use otherwise
