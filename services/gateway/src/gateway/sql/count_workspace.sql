SELECT (SELECT count(*) FROM api_key WHERE workspace_id = %(workspace_id)s) AS api_key,
       (SELECT count(*) FROM membership WHERE workspace_id = %(workspace_id)s) AS membership,
       (SELECT count(*) FROM idempotent_create WHERE workspace_id = %(workspace_id)s) AS idempotent_create,
       (SELECT count(*) FROM workspace WHERE id = %(workspace_id)s) AS workspace
