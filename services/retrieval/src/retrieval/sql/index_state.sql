-- What a search's answer depends on besides the request. `changed_by` tells one from a database that was set back.
SELECT generation, xmin::text AS changed_by, model, dims
FROM (VALUES (%(workspace_id)s::uuid)) AS asked (workspace_id)
LEFT JOIN (SELECT workspace_id, generation, xmin FROM workspace_statistics) AS statistics USING (workspace_id)
LEFT JOIN (SELECT workspace_id, model, dims FROM embedding_space WHERE status = 'active') AS space USING (workspace_id)
