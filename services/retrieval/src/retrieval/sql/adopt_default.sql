-- Where the model that a workspace is searched with is configured no more, the default's space is built and switched to,
-- unless a switch to another configured one is under way.
WITH configured AS (
    SELECT * FROM unnest(%(models)s::text[], %(dims)s::integer[]) AS one (model, dims)
), abandoned AS (
    SELECT workspace_id FROM embedding_space AS space
    WHERE status = 'active' AND (model, dims) NOT IN (SELECT model, dims FROM configured)
      AND NOT EXISTS (SELECT FROM deleted_workspace WHERE deleted_workspace.workspace_id = space.workspace_id)
      AND NOT EXISTS (SELECT FROM embedding_space AS other
                      WHERE other.workspace_id = space.workspace_id AND other.activate
                        AND other.status IN ('building', 'failed')
                        AND (other.model, other.dims) IN (SELECT model, dims FROM configured))
)
INSERT INTO embedding_space AS known (workspace_id, id, model, dims, status, activate)
SELECT workspace_id, embedding_space_id(%(model)s, %(default_dims)s), %(model)s, %(default_dims)s, 'building', true
FROM abandoned
ON CONFLICT (workspace_id, id) DO UPDATE SET
    status = 'building', activate = true, attempts = 0, next_attempt_at = NULL
WHERE known.status IN ('ready', 'building', 'failed')
