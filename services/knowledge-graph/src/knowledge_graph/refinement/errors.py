"""What callers may be told."""

from service_kit.problems import Conflict, InvalidRequest, NotFound


class RunNotFound(NotFound):
    type, title = "refinement-run-not-found", "There is no such refinement run in this workspace"


class RefinementOff(Conflict):
    type, title = "refinement-off", "Refinement is not turned on in this workspace"


class NoChatModel(Conflict):
    type, title = "no-chat-model", "No chat model is configured in this deployment"


class RunActive(Conflict):
    type, title = "refinement-active", "Another refinement run of this workspace has not ended"


class RunNotInState(Conflict):
    type, title = "refinement-run-state", "The run is not in a state that allows this"


class BudgetNeeded(InvalidRequest):
    type, title = "budget-needed", "A run needs a budget: max_tokens or max_calls, in the request or the settings"
