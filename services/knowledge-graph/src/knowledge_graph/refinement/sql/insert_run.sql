INSERT INTO refinement_run (workspace_id, follow, document_ids, model, max_tokens, max_calls, created_by)
VALUES (
    %(workspace_id)s, %(follow)s, %(document_ids)s::uuid[], %(model)s, %(max_tokens)s::bigint, %(max_calls)s::bigint,
    %(created_by)s
)
ON CONFLICT (workspace_id) WHERE state IN ('queued', 'running', 'waiting', 'paused') DO NOTHING
RETURNING id
