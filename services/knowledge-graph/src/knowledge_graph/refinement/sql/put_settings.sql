INSERT INTO refinement_settings (workspace_id, enabled, max_tokens, max_calls, version)
VALUES (%(workspace_id)s, %(enabled)s, %(max_tokens)s::bigint, %(max_calls)s::bigint, 1)
ON CONFLICT (workspace_id) DO UPDATE SET
    enabled = excluded.enabled,
    max_tokens = excluded.max_tokens,
    max_calls = excluded.max_calls,
    version = refinement_settings.version + 1,
    changed_at = now()
RETURNING enabled, max_tokens, max_calls, version
