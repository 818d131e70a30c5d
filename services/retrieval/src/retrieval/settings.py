"""The settings of the service; the only module that reads the environment."""

from __future__ import annotations

from pydantic import DirectoryPath, Field

from inference.settings import EmbeddingSettings, RerankSettings
from service_kit.settings import DocumentConsumerSettings, ObjectStoreSettings, ServiceSettings


class Settings(ServiceSettings, DocumentConsumerSettings, ObjectStoreSettings, EmbeddingSettings, RerankSettings):
    """The retrieval service. Deadlines are in seconds."""

    lexical_deadline_seconds: float = Field(default=2.0, gt=0)
    """How long a search waits for its lexical leg"""
    dense_deadline_seconds: float = Field(default=3.0, gt=0)
    """How long a search waits for its dense leg"""
    graph_deadline_seconds: float = Field(default=0.3, gt=0)
    """How long a search waits for the knowledge graph"""
    sessions_deadline_seconds: float = Field(default=2.0, gt=0)
    """How long a search waits for the documents of a session"""
    rerank_deadline_seconds: float = Field(default=3.0, gt=0)
    """After this, the order of the fusion is kept"""
    rerank_candidates: int = Field(default=50, ge=1, le=200)
    """How many of the best candidates a reranker orders"""
    exact_scan_limit: int = Field(default=5_000, ge=0)
    """Up to this many vectors are always compared exactly, without HNSW"""
    hnsw_tuple_cost: float = Field(default=20.0, gt=0)
    """Cost of visiting a vector in HNSW, in exact comparisons"""
    posting_cache_bytes: int = Field(default=64 << 20, ge=0)
    """Memory of each process for decoded postings"""
    hnsw_ef_search: int = Field(default=240, ge=1, le=1000)
    """Candidates of the approximate scan, for up to 100,000 vectors; above that they grow with the index"""
    knowledge_graph_url: str | None = None
    """Unset: searches have no graph leg"""
    orchestrator_url: str | None = None
    """Unset: searches cannot be limited to a session"""
    context_tokenizer: str = "minilm"
    """Counts the tokens of a context unless the caller names another tokenizer"""
    tokenizers_folder: DirectoryPath | None = None
    """Each NAME.json in it is a tokenizer that callers may name to count a context's tokens"""
    search_cache: bool = True
    """Whether repeated searches are answered from a cache in Redis until something changes"""
    search_cache_seconds: float = Field(default=600.0, gt=0, le=86_400)
    """How long a cached answer is kept"""
    build_batch_size: int = Field(default=16, ge=1, le=256)
    """Chunks per embedding batch while an embedding space is built"""
