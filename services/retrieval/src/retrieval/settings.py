"""The one place that reads the environment."""

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
    highlight_deadline_seconds: float = Field(default=3.0, gt=0)
    """After this, highlights are chosen by their words alone"""
    graph_deadline_seconds: float = Field(default=0.3, gt=0)
    """How long a search waits for the knowledge graph"""
    sessions_deadline_seconds: float = Field(default=2.0, gt=0)
    """How long a search waits for the documents of a session"""
    rerank_deadline_seconds: float = Field(default=3.0, gt=0)
    """After this, the fused order stays"""
    rerank_candidates: int = Field(default=50, ge=1, le=200)
    """How many of the best candidates a reranker orders"""
    exact_scan_limit: int = Field(default=5_000, ge=0)
    """Up to so many vectors are always compared one by one"""
    hnsw_tuple_cost: float = Field(default=20.0, gt=0)
    """What visiting a vector in HNSW costs, in exact comparisons"""
    posting_cache_bytes: int = Field(default=64 << 20, ge=0)
    """Decoded postings kept in memory by each process"""
    hnsw_ef_search: int = Field(default=240, ge=1, le=1000)
    """Candidates of the approximate scan, up to 100,000 vectors; beyond they grow with the index"""
    knowledge_graph_url: str | None = None
    """Without it searches have no graph leg"""
    orchestrator_url: str | None = None
    """Without it the scope of a session is not available"""
    context_tokenizer: str = "minilm"
    """Counts the tokens of a context where the caller names no tokenizer"""
    tokenizers_folder: DirectoryPath | None = None
    """Each NAME.json in it is a tokenizer that contexts can be counted by"""
    search_cache: bool = True
    """Whether repeated searches are answered from Redis until something changes"""
    search_cache_seconds: float = Field(default=600.0, gt=0, le=86_400)
    """How long an answer is kept"""
    build_batch_size: int = Field(default=16, ge=1, le=256)
    """Chunks that are embedded at a time while an embedding space is built"""
