"""Settings of a worker."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pydantic import Field

from inference.embeddings import EmbeddingSpace
from inference.settings import EmbeddingSettings
from ingestion.conversion import ChunkOptions, Limits, PdfEngine, PdfOptions, Recycling, Setup
from ingestion.conversion.values import DEFAULT_CHUNK_TOKENS
from ingestion.converter_settings import SandboxSettings
from ingestion.settings import MEBIBYTE, LeaseSettings, QuotaSettings
from ingestion.sources.settings import SourceSettings
from service_kit.settings import LogLevel, ObjectStoreSettings, PrivateSettings, RedisSettings


class WorkerSettings(
    PrivateSettings,
    LeaseSettings,
    RedisSettings,
    ObjectStoreSettings,
    EmbeddingSettings,
    SourceSettings,
    QuotaSettings,
    SandboxSettings,
):
    """`work_folder` holds each running document's original and the files made from it.

    `worker_shutdown_seconds` must be shorter than the time between SIGTERM and SIGKILL (Compose: 10 seconds).
    """

    private_port: int | None = Field(default=None, description="The port of /readyz and /metrics; unset: none")
    log_level: LogLevel = "INFO"
    otel_exporter_otlp_endpoint: str | None = None
    worker_concurrency: int = Field(
        default=2,
        gt=0,
        description="Concurrent bulk documents, in addition to one interactive and one of another workspace",
    )
    worker_shutdown_seconds: float = Field(default=6.0, ge=0)
    """Time for a stage to finish after SIGTERM; then it goes back to the queue"""
    work_folder: Path = Path(tempfile.gettempdir())
    """Where the originals of running documents and the files made from them are kept"""
    convert_threads: int = Field(default=2, gt=0)
    """CPU threads of one conversion"""
    convert_seconds: float = Field(default=600.0, gt=0)
    """Time limit of any conversion; a file gets two minutes, and more by its size and kind"""
    convert_memory_mib: int = Field(default=2048, gt=0)
    """Memory limit of one conversion"""
    convert_pages: int = Field(default=5000, gt=0)
    """Maximum pages of one document"""
    conversions_per_process: int = Field(
        default=50, gt=0, description="Conversions after which their process is replaced"
    )
    convert_recycle_mib: int = Field(default=1024, gt=0, description="Memory above which it is replaced after a file")
    chunk_tokens: int | None = Field(
        default=None, description="Maximum tokens of a chunk; by default 256, or the model's limit if lower"
    )
    chunk_overlap_tokens: int = 0
    """Tokens that a chunk repeats of the previous one where a text is split"""
    pdf_engine: PdfEngine | None = Field(
        default=None, description="By default heron if its model is installed, otherwise bundled"
    )
    docling_artifacts: Path | None = Field(default=None, description="The folder with docling's models")
    max_file_bytes: int = Field(default=200 * MEBIBYTE, gt=0)
    """The largest file that is read from a source"""
    max_queued_bytes: int = Field(
        default=2048 * MEBIBYTE, gt=0, description="Queued bytes of a workspace above which its synchronisations wait"
    )
    max_losses: int = Field(default=3, gt=0, description="Process crashes before a document fails")
    max_postponements: int = Field(default=8, gt=0, description="Attempts while a store is unavailable")
    embed_max_postponements: int = Field(
        default=60, gt=0, description="Attempts while the embedding model's provider fails"
    )

    @property
    def limits(self) -> Limits:
        return Limits(self.convert_seconds, self.convert_memory_mib * MEBIBYTE, self.convert_pages, self.max_file_bytes)

    def conversion(self, space: EmbeddingSpace) -> Setup:
        """Returns the setup of conversions, with chunks that fit the model of `space`. Raises ValueError."""
        chunking = ChunkOptions(
            max_tokens=min(DEFAULT_CHUNK_TOKENS, space.max_tokens) if self.chunk_tokens is None else self.chunk_tokens,
            overlap_tokens=self.chunk_overlap_tokens,
            model_tokens=space.max_tokens,
            tokenizer=self._tokenizer,
            estimated=self.embedding_backend == "openai",
        )
        recycling = Recycling(self.conversions_per_process, self.convert_recycle_mib * MEBIBYTE)
        return Setup(self.convert_threads, chunking, PdfOptions(self.pdf_engine, self.docling_artifacts), recycling)

    @property
    def _tokenizer(self) -> Path | None:
        """Returns the tokenizer of a model in a folder, else None: the bundled one estimates a provider's tokens."""
        if self.embedding_backend != "folder" or self.embedding_folder is None:
            return None
        return self.embedding_folder / "tokenizer.json"
