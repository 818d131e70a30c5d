"""The requests that the audit records, and their names. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

REFUSED_CREDENTIAL, ACCEPTED = "credential.refuse", "invitation.accept"


@dataclass(frozen=True)
class Action:
    """An audited operation. `target` is the path parameter with the id of the resource; creations have none."""

    name: str
    method: str
    path: str
    target: str | None = None

    @property
    def of_deployment(self) -> bool:
        """Returns whether the action concerns the deployment rather than a workspace."""
        return self.name.startswith(("user.", "sign_in.")) or self.name == "workspace.create"

    def match(self, segments: list[str]) -> dict[str, str] | None:
        """Returns the path parameters if the action's path has these segments."""
        own = self.path.split("/")
        if len(own) != len(segments):
            return None
        found = {}
        for expected, segment in zip(own, segments, strict=True):
            if expected.startswith("{"):
                found[expected.strip("{}")] = segment
            elif expected != segment:
                return None
        return found


def _actions(resource: str, target: str, *operations: tuple[str, str, str]) -> Iterator[Action]:
    for verb, method, path in operations:
        yield Action(f"{resource}.{verb}", method, path, target if f"{{{target}}}" in path else None)


_WORKSPACE = "/v1/workspaces/{workspace_id}"
_DOCUMENT, _SOURCE, _SESSION = "/v1/documents/{document_id}", "/v1/sources/{source_id}", "/v1/sessions/{session_id}"
_SPACE = "/v1/embedding-spaces/{space_id}"
ACTIONS = (
    *_actions(
        "user",
        "user_id",
        ("create", "POST", "/v1/users"),
        ("change", "PATCH", "/v1/users/{user_id}"),
        ("delete", "DELETE", "/v1/users/{user_id}"),
    ),
    *_actions(
        "sign_in",
        "user_id",
        ("password", "POST", "/v1/auth/sign-in"),
        ("key", "POST", "/v1/auth/key"),
        ("create_code", "POST", "/v1/auth/codes"),
        ("code", "POST", "/v1/auth/code"),
        ("openid", "GET", "/v1/auth/openid/callback"),
        ("join", "POST", "/v1/auth/join"),
        ("change_password", "PUT", "/v1/auth/password"),
        ("create_password_link", "POST", "/v1/users/{user_id}/password-links"),
        ("use_password_link", "POST", "/v1/auth/password-links"),
        ("end", "POST", "/v1/auth/sign-out"),
        ("end_all", "DELETE", "/v1/auth/sessions"),
    ),
    Action("sign_in.end", "DELETE", "/v1/auth/sessions/{session_id}", "session_id"),
    *_actions(
        "workspace",
        "workspace_id",
        ("create", "POST", "/v1/workspaces"),
        ("change", "PATCH", _WORKSPACE),
        ("delete", "DELETE", _WORKSPACE),
    ),
    *_actions(
        "member",
        "user_id",
        ("put", "PUT", f"{_WORKSPACE}/members/{{user_id}}"),
        ("remove", "DELETE", f"{_WORKSPACE}/members/{{user_id}}"),
    ),
    *_actions(
        "invitation",
        "invitation_id",
        ("create", "POST", f"{_WORKSPACE}/invitations"),
        ("revoke", "DELETE", f"{_WORKSPACE}/invitations/{{invitation_id}}"),
        ("accept", "POST", "/v1/invitations/accept"),
    ),
    *_actions(
        "key", "key_id", ("create", "POST", f"{_WORKSPACE}/keys"), ("revoke", "DELETE", f"{_WORKSPACE}/keys/{{key_id}}")
    ),
    *_actions(
        "document",
        "document_id",
        ("create", "POST", "/v1/documents"),
        ("replace", "PUT", _DOCUMENT),
        ("change", "PATCH", _DOCUMENT),
        ("delete", "DELETE", _DOCUMENT),
        ("download", "GET", f"{_DOCUMENT}/original"),
        ("download", "GET", f"{_DOCUMENT}/markdown"),
    ),
    *_actions(
        "source",
        "source_id",
        ("create", "POST", "/v1/sources"),
        ("change", "PATCH", _SOURCE),
        ("delete", "DELETE", _SOURCE),
        ("synchronise", "POST", f"{_SOURCE}/sync"),
    ),
    *_actions(
        "session",
        "session_id",
        ("delete", "DELETE", _SESSION),
        ("attach", "PUT", f"{_SESSION}/documents/{{document_id}}"),
        ("detach", "DELETE", f"{_SESSION}/documents/{{document_id}}"),
    ),
    *_actions(
        "artifact",
        "session_id",
        ("delete", "DELETE", f"{_SESSION}/artifact"),
        ("index", "POST", f"{_SESSION}/artifact/index"),
    ),
    *_actions("image", "attachment_id", ("delete", "DELETE", f"{_SESSION}/attachments/{{attachment_id}}")),
    *_actions("message", "message_id", ("delete", "DELETE", "/v1/messages/{message_id}")),
    *_actions("response", "response_id", ("delete", "DELETE", "/v1/responses/{response_id}")),
    *_actions(
        "share",
        "share_id",
        ("create", "POST", f"{_SESSION}/shares"),
        ("end", "DELETE", "/v1/shares/{share_id}"),
    ),
    *_actions(
        "quick_action",
        "action_id",
        ("create", "POST", "/v1/quick-actions"),
        ("change", "PATCH", "/v1/quick-actions/{action_id}"),
        ("delete", "DELETE", "/v1/quick-actions/{action_id}"),
    ),
    *_actions(
        "feedback",
        "message_id",
        ("give", "PUT", "/v1/messages/{message_id}/feedback"),
        ("withdraw", "DELETE", "/v1/messages/{message_id}/feedback"),
        ("export", "GET", "/v1/feedback/export"),
    ),
    *_actions(
        "memory",
        "memory_id",
        ("edit", "PATCH", "/v1/memories/{memory_id}"),
        ("delete", "DELETE", "/v1/memories/{memory_id}"),
        ("approve", "POST", "/v1/memories/{memory_id}/approve"),
        ("import", "POST", "/v1/memories/import"),
        ("forget", "POST", "/v1/memories/forget"),
        ("export", "GET", "/v1/memories/export"),
        ("set_writing", "PUT", "/v1/memories/settings"),
    ),
    *_actions("world", "", ("change", "POST", "/v1/world/operations"), ("revert", "POST", "/v1/world/revert")),
    *_actions(
        "graph",
        "import_id",
        ("export", "GET", "/v1/graph/export"),
        ("import", "POST", "/v1/graph/triples"),
        ("remove_import", "DELETE", "/v1/graph/triples/{import_id}"),
        ("remove_refinement", "DELETE", "/v1/graph/refinement/results"),
    ),
    *_actions(
        "graph",
        "correction_id",
        ("correct", "POST", "/v1/graph/corrections"),
        ("undo_correction", "DELETE", "/v1/graph/corrections/{correction_id}"),
    ),
    *_actions(
        "settings",
        "space_id",
        ("change_search", "PATCH", "/v1/search-settings"),
        ("change_sharing", "PATCH", "/v1/sharing"),
        ("change_quota", "PATCH", "/v1/quota"),
        ("change_refinement", "PATCH", "/v1/graph/refinement/settings"),
        ("create_embedding_space", "POST", "/v1/embedding-spaces"),
        ("activate_embedding_space", "POST", f"{_SPACE}/activate"),
        ("delete_embedding_space", "DELETE", _SPACE),
    ),
    *_actions(
        "settings",
        "setting_key",
        ("put", "PUT", "/v1/settings/{setting_key}"),
        ("reset", "DELETE", "/v1/settings/{setting_key}"),
    ),
    *_actions(
        "preset",
        "preset_name",
        ("put", "PUT", "/v1/presets/{preset_name}"),
        ("delete", "DELETE", "/v1/presets/{preset_name}"),
    ),
    *_actions("dead_letter", "", ("replay", "POST", "/v1/dead-letters/replay")),
    *_actions("audit", "", ("export", "GET", "/v1/audit/export")),
)
# Writes that are not worth an entry: questions, and what users do in their own conversations and queues.
NOT_AUDITED = frozenset(
    {
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/context"),
        ("POST", "/v1/search"),
        ("POST", "/v1/search/why"),
        ("POST", "/v1/documents/cancel"),
        ("POST", "/v1/documents/retry"),
        ("POST", "/v1/documents/{document_id}/cancel"),
        ("POST", "/v1/documents/{document_id}/retry"),
        ("POST", "/v1/graph/estimates"),
        ("POST", "/v1/graph/expand"),
        ("POST", "/v1/memories"),
        ("POST", "/v1/memories/recall"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/messages/{message_id}/regenerate"),
        ("POST", "/v1/responses"),
        ("POST", "/v1/responses/{response_id}/cancel"),
        ("POST", "/v1/runs/{run_id}/cancel"),
        ("POST", "/v1/runs/{run_id}/retry"),
        ("POST", "/v1/sessions"),
        ("PATCH", "/v1/sessions/{session_id}"),
        ("PUT", "/v1/sessions/{session_id}/artifact"),
        ("PATCH", "/v1/sessions/{session_id}/artifact"),
        ("POST", "/v1/sessions/{session_id}/artifact/redo"),
        ("POST", "/v1/sessions/{session_id}/artifact/restore"),
        ("POST", "/v1/sessions/{session_id}/artifact/undo"),
        ("POST", "/v1/sessions/{session_id}/attachments"),
        ("PUT", "/v1/sessions/{session_id}/head"),
        ("POST", "/v1/sessions/{session_id}/messages"),
        ("POST", "/v1/sources/{source_id}/syncs/{sync_id}/cancel"),
    }
)


def find(method: str, path: str) -> tuple[Action, str | None, str | None] | None:
    """Returns the action of a request, the id of its resource and the workspace in its path, if any."""
    segments = path.split("/")
    for action in ACTIONS:
        if action.method == method and (found := action.match(segments)) is not None:
            return action, found.get(action.target or ""), found.get("workspace_id")
    return None
