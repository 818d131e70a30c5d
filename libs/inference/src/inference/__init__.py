"""Ports and adapters for chat, embedding, reranking and entailment models."""

import os

# ONNX Runtime reads this when it is imported; otherwise it reports its use to its maker.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
