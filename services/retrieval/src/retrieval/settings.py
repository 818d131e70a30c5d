"""The one place that reads the environment."""

from __future__ import annotations

from pydantic import DirectoryPath, Field

from inference.settings import EmbeddingSettings, RerankSettings
from service_kit.settings import EventSettings, ObjectStoreSettings, ServiceSettings


class Settings(ServiceSettings, EventSettings, ObjectStoreSettings, EmbeddingSettings, RerankSettings):
    """Deadlines are seconds. Up to `exact_scan_limit` vectors are compared one by one, beyond it where that is cheaper
    than HNSW, of which a visited vector costs as much as `hnsw_tuple_cost` compared.

    `posting_cache_bytes` of decoded postings are kept in memory. `rerank_candidates` at the most are ordered by the
    reranker, where there is one. `build_batch_size` chunks are embedded at a time where an embedding space is built.
    Each `NAME.json` in `tokenizers_folder` is a tokenizer that contexts can be counted by; `context_tokenizer` names
    the one for callers who name none.

    Without `knowledge_graph_url` searches have no graph leg, without `orchestrator_url` no scope of a session.
    """

    lexical_deadline_seconds: float = Field(default=2.0, gt=0)
    dense_deadline_seconds: float = Field(default=3.0, gt=0)
    highlight_deadline_seconds: float = Field(default=3.0, gt=0)
    graph_deadline_seconds: float = Field(default=0.3, gt=0)
    sessions_deadline_seconds: float = Field(default=2.0, gt=0)
    rerank_deadline_seconds: float = Field(default=3.0, gt=0)
    rerank_candidates: int = Field(default=50, ge=1, le=200)
    exact_scan_limit: int = Field(default=5_000, ge=0)
    hnsw_tuple_cost: float = Field(default=20.0, gt=0)
    posting_cache_bytes: int = Field(default=64 << 20, ge=0)
    hnsw_ef_search: int = Field(default=240, ge=1, le=1000)
    knowledge_graph_url: str | None = None
    orchestrator_url: str | None = None
    context_tokenizer: str = "minilm"
    tokenizers_folder: DirectoryPath | None = None
    search_cache: bool = True
    search_cache_seconds: float = Field(default=600.0, gt=0, le=86_400)
    build_batch_size: int = Field(default=16, ge=1, le=256)
