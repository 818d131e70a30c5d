"""From settings to adapters."""

from pydantic import SecretStr

from inference.chat import ChatModel
from inference.embeddings import Embedder, EmbeddingSpace
from inference.errors import SettingMissing
from inference.openai_chat import OpenAIChat
from inference.openai_embeddings import OpenAIEmbedder
from inference.provider import Provider, Timeouts
from inference.settings import ChatSettings, EmbeddingSettings

_MINILM_DIMS = 384
_ONNX_BATCH = 16
_OPENAI_BATCH = 32


def build_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder of `embedding_backend`; the caller closes it.

    A folder's model is loaded here, the bundled one at its first use.
    Raises SettingMissing, InvalidApiKey, ModelFileChanged, ModelFolderInvalid.
    """
    if settings.embedding_backend == "openai":
        return _openai_embedder(settings)
    from inference.encoder_files import bundled_files, folder_files  # noqa: PLC0415 - not installed everywhere
    from inference.onnx import OnnxEmbedder  # noqa: PLC0415 - onnxruntime takes memory that other backends save

    threads, batch_size = settings.embedding_threads, settings.embedding_batch_size or _ONNX_BATCH
    if settings.embedding_backend == "bundled":
        return OnnxEmbedder(bundled_files(), dims=_MINILM_DIMS, threads=threads, batch_size=batch_size)
    if settings.embedding_folder is None:
        raise SettingMissing("EMBEDDING_BACKEND=folder needs EMBEDDING_FOLDER")
    return OnnxEmbedder(folder_files(settings.embedding_folder), threads=threads, batch_size=batch_size)


def build_chat_model(settings: ChatSettings) -> ChatModel | None:
    """The chat model, or None when CHAT_BASE_URL or CHAT_MODEL is not set; the caller closes it.

    Raises InvalidApiKey.
    """
    if settings.chat_base_url is None or settings.chat_model is None:
        return None
    timeouts = Timeouts(connect=settings.chat_connect_timeout_seconds, read=settings.chat_timeout_seconds)
    provider = Provider(settings.chat_base_url, _value(settings.chat_api_key), timeouts)
    return OpenAIChat(provider, settings.chat_model, max_tokens=settings.chat_max_tokens)


def _openai_embedder(settings: EmbeddingSettings) -> Embedder:
    base_url, model, dims = settings.embedding_base_url, settings.embedding_model, settings.embedding_dims
    if base_url is None or model is None or dims is None:
        raise SettingMissing("EMBEDDING_BACKEND=openai needs EMBEDDING_BASE_URL, EMBEDDING_MODEL and EMBEDDING_DIMS")
    provider = Provider(base_url, _value(settings.embedding_api_key), Timeouts(read=settings.embedding_timeout_seconds))
    space = EmbeddingSpace(model, dims, settings.embedding_max_tokens)
    return OpenAIEmbedder(provider, space, batch_size=settings.embedding_batch_size or _OPENAI_BATCH)


def _value(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
