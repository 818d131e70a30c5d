INSERT INTO workspace_receipt (workspace_id, service)
SELECT %(workspace_id)s, unnest(%(services)s::text[])
