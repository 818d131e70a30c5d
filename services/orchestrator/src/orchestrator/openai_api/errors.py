"""The problems of the OpenAI API's routes, where all problems have the form of that API."""

from __future__ import annotations

from service_kit.problems import NotFound, Problem

# How a run ends when its user has to wait, rather than because something failed.
LIMITED = frozenset({"budget-exceeded"})


class Unsupported(Problem):
    """`param` names the field."""

    status, type, title = 400, "unsupported-parameter", "This is not supported here"

    def __init__(self, param: str, detail: str) -> None:
        super().__init__(detail, param=param)


class UnknownOpenAIModel(NotFound):
    type, title = "model-not-found", "There is no such model here; GET /v1/models lists them"

    def __init__(self) -> None:
        super().__init__(param="model")


class ResponseNotFound(NotFound):
    type, title = "response-not-found", "There is no such response here"

    def __init__(self, param: str | None = None) -> None:
        super().__init__(param=param)


class NothingWrites(Problem):
    status, type, title = (
        400,
        "no-chat-model",
        "No chat model is configured, so only questions about documents can be answered",
    )

    def __init__(self) -> None:
        super().__init__(param="model")


class AnswerFailed(Problem):
    """The run ended without an answer: `code` says why, and a partial answer can be read under `run_id`.

    It is not to be retried: the run has tried repeatedly, and a budget renews at the end of the day.
    """

    status, type, title = 500, "run-failed", "The answer could not be written"

    def __init__(self, kind: str, detail: str, run_id: str) -> None:
        super().__init__(detail, code=kind.replace("-", "_"), run_id=run_id, final=True)


class OutOfBudget(AnswerFailed):
    """The run ended without an answer because its user, key or workspace has no tokens left."""

    status = 429


def failure_of(kind: str) -> type[AnswerFailed]:
    """Returns the error for a run that ended in this way."""
    return OutOfBudget if kind in LIMITED else AnswerFailed
