"""Errors that callers of the refinement may see."""

from service_kit.problems import Conflict, InvalidRequest


class NoChatModel(Conflict):
    type, title = "no-chat-model", "No chat model is configured in this deployment"


class BudgetNeeded(InvalidRequest):
    type, title = "budget-needed", "Refinement can be turned on only with a budget (max_tokens)"
