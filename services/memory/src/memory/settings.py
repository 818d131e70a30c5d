"""The one place that reads the environment."""

from inference.settings import EmbeddingSettings
from service_kit.settings import DocumentConsumerSettings, ServiceSettings, SessionConsumerSettings


class Settings(ServiceSettings, DocumentConsumerSettings, SessionConsumerSettings, EmbeddingSettings):
    """The service's own settings: those that it shares with others, and the embedding model's."""
