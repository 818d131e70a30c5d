"""Settings of models, which a service's settings class inherits."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Json, SecretStr, model_validator


def _web_address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return url


def _stripped(secret: SecretStr) -> SecretStr:
    return SecretStr(secret.get_secret_value().strip())


WebAddress = Annotated[str, AfterValidator(_web_address)]
# A key read from a file often ends in a newline.
ApiKey = Annotated[SecretStr, AfterValidator(_stripped)]
Positive = Annotated[int, Field(gt=0)]


class _EmptyIsUnset(BaseModel, use_attribute_docstrings=True):
    """Treats an empty variable as unset, because Compose passes unset variables as empty ones."""

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        own = _own_fields()
        return {name: value for name, value in values.items() if value != "" or name not in own}


def _own_fields() -> set[str]:
    models: tuple[type[BaseModel], ...] = (EmbeddingSettings, ChatSettings, RerankSettings, EntailmentSettings)
    return {name for model in models for name in model.model_fields}


class EmbeddingModel(BaseModel):
    """One embedding model; each field is as in `EMBEDDING_...`."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    backend: Literal["bundled", "folder", "openai"] = "bundled"
    folder: Path | None = None
    base_url: WebAddress | None = None
    model: str | None = None
    api_key: ApiKey | None = None
    dims: Positive | None = None
    max_tokens: Annotated[int, Field(gt=2)] = 512
    threads: Positive = 2
    batch_size: Positive | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 30.0


class EmbeddingSettings(_EmptyIsUnset):
    """`EMBEDDING_...`. All processes that embed for one index must use the same values.

    `embedding_models` lists further models that a workspace may be switched to: a JSON list of objects whose keys are
    the names of the other variables, in lower case and without `EMBEDDING_`.
    """

    embedding_backend: Literal["bundled", "folder", "openai"] = "bundled"
    """Where vectors come from: the bundled model, one in a folder, or an OpenAI-compatible endpoint"""
    embedding_folder: Path | None = None
    """For `folder`: holds model.onnx (or onnx/model.onnx) and tokenizer.json"""
    embedding_base_url: WebAddress | None = None
    """For `openai`: the endpoint; most URLs end in /v1"""
    embedding_model: str | None = None
    """For `openai`: the name of the model"""
    embedding_api_key: ApiKey | None = None
    """For `openai`: sent as a bearer token; never in an error or a log"""
    embedding_dims: Positive | None = None
    """For `openai`: the number of dimensions of the model's vectors"""
    embedding_max_tokens: int = Field(default=512, gt=2)
    """For `openai`: the longest text that the model accepts, in tokens"""
    embedding_threads: Positive = 2
    """CPU threads of a local model"""
    embedding_batch_size: Positive | None = None
    """Texts per request or inference; the default depends on the backend"""
    embedding_timeout_seconds: float = Field(default=30.0, gt=0)
    """For `openai`: how long the endpoint may send nothing"""
    embedding_models: Json[list[EmbeddingModel]] = Field(default="[]", validate_default=True)
    """Further models that a workspace may be switched to: a JSON list"""

    @property
    def default_embedding_model(self) -> EmbeddingModel:
        """Returns the model that `EMBEDDING_...` describes."""
        names = EmbeddingModel.model_fields
        return EmbeddingModel.model_construct(**{name: getattr(self, f"embedding_{name}") for name in names})


class ChatSettings(_EmptyIsUnset):
    """`CHAT_...`. Without a base URL and a model there is no chat model."""

    chat_base_url: WebAddress | None = None
    """An OpenAI-compatible endpoint; most URLs end in /v1"""
    chat_model: str | None = None
    """The name of the model"""
    chat_api_key: ApiKey | None = None
    """Sent as a bearer token; never in an error or a log"""
    chat_timeout_seconds: float = Field(default=60.0, gt=0)
    """How long the provider may send nothing, also between two pieces of an answer"""
    chat_connect_timeout_seconds: float = Field(default=5.0, gt=0)
    """How long connecting may take"""
    chat_max_tokens: int | None = Field(default=None, gt=0)
    """The longest answer, unless the caller sets a limit"""
    chat_context_tokens: int | None = Field(default=None, gt=0)
    """The model's context window, if its endpoint does not report it or reports more than it serves"""
    chat_breaker_failures: Positive = 3
    """Consecutive failed calls after which an endpoint is not called for a while"""
    chat_breaker_seconds: float = Field(default=60.0, gt=0)
    """How long an endpoint that failed repeatedly is not called"""


class RerankSettings(_EmptyIsUnset):
    """`RERANK_...`. Without a backend there is no reranker. The timeout is how long the provider may send nothing."""

    rerank_backend: Literal["cohere", "jina", "tei"] | None = None
    """The API of the endpoint; unset: nothing is reranked"""
    rerank_base_url: WebAddress | None = None
    """https://api.cohere.com/v2, https://api.jina.ai/v1, or a server of your own"""
    rerank_model: str | None = None
    """The name of the model; `tei` needs none"""
    rerank_api_key: ApiKey | None = None
    """Sent as a bearer token; never in an error or a log"""
    rerank_timeout_seconds: float = Field(default=2.0, gt=0)
    """How long the endpoint may send nothing"""
    rerank_batch_size: Positive | None = None
    """Texts per request; by default 32 for `tei`, otherwise 1000"""


class EntailmentSettings(_EmptyIsUnset):
    """`ENTAILMENT_...`. Without a backend only the rules compare sentences with their sources."""

    entailment_backend: Literal["tei", "folder", "chat"] | None = None
    """What judges sentences that the rules leave unclear: a server with `/predict` (text-embeddings-inference), a
    classifier in a folder, or the chat model"""
    entailment_base_url: WebAddress | None = None
    """For `tei`: the server's address"""
    entailment_api_key: ApiKey | None = None
    """For `tei`: sent as a bearer token; never in an error or a log"""
    entailment_folder: Path | None = None
    """For `folder`: holds model.onnx (or onnx/model.onnx), tokenizer.json and config.json with id2label"""
    entailment_threads: Positive = 2
    """For `folder`: CPU threads"""
    entailment_timeout_seconds: float = Field(default=10.0, gt=0)
    """How long checking one answer may wait for the model"""
