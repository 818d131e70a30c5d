"""What can go wrong with a model. Each class's docstring is its message, followed by a detail if there is one."""

from inspect import cleandoc


class InferenceError(Exception):
    """A model could not be used."""

    def __init__(self, detail: str = "") -> None:
        message = cleandoc(type(self).__doc__ or "")
        super().__init__(f"{message.removesuffix('.')}: {detail}" if detail else message)
        self.detail = detail


class EmbeddingError(InferenceError):
    """Texts could not be embedded."""


class ChatError(InferenceError):
    """The chat model could not answer."""


class RerankError(InferenceError):
    """Passages could not be reranked."""


class EntailmentError(InferenceError):
    """Sentences could not be compared with their sources by a model."""


class ProviderError(EmbeddingError, ChatError, RerankError, EntailmentError):
    """The model's provider failed."""


class ProviderUnavailable(ProviderError):
    """The model's provider is not available."""

    def __init__(self, detail: str = "", *, retry_after: float | None = None, status: int | None = None) -> None:
        """`retry_after`: seconds that the provider asked to wait, if it said so; `status`: of its reply, if it gave
        one."""
        super().__init__(detail)
        self.retry_after, self.status = retry_after, status


class ProviderSilent(ProviderUnavailable):
    """The model's provider did not reply in time."""


class ProviderRejected(ProviderError):
    """The model's provider rejected the request."""

    def __init__(self, detail: str = "", *, status: int) -> None:
        super().__init__(f"status {status}: {detail}" if detail else f"status {status}")
        self.status = status


class ContextTooLong(ProviderRejected):
    """The text is longer than the model's context."""


class UnreadableReply(ProviderError):
    """The provider's reply does not have the form of its API."""


class CircuitOpen(ProviderError):
    """The model's provider failed repeatedly and is not called for a while."""


class InvalidApiKey(ProviderError):
    """The API key holds characters that an HTTP header cannot carry."""


class EmptyAnswer(ChatError):
    """The model answered without a word."""


class ModelCannot(ChatError):
    """The model cannot do what is asked."""


class CallRefused(ChatError):
    """The model is not called."""


class StructuredAnswerInvalid(ChatError):
    """The model's answer does not have the requested structure, not even after the errors were named."""


class StreamCut(ChatError):
    """The model's answer ended before it was complete."""


class ModelFileChanged(EmbeddingError):
    """A model file is not the one that this version was built for. Reinstall the package that holds it."""


class ModelFolderInvalid(EmbeddingError, EntailmentError):
    """The folder does not hold a model that can be used."""


class EncoderFailed(EmbeddingError):
    """The encoder could not be run."""


class ClassifierFailed(EntailmentError):
    """The sequence classifier could not be run."""


class WrongLabels(EntailmentError):
    """The classifier's labels or scores are not those of entailment."""


class WrongEmbeddings(EmbeddingError):
    """The provider returned other embeddings than asked for."""


class WrongScores(RerankError):
    """The provider returned other scores than asked for."""


class PromptInvalid(InferenceError):
    """A prompt's tokens do not match the values given for them."""


class SettingMissing(InferenceError):
    """A setting is missing."""
