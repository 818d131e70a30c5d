-- Keys and members first, which refer to the workspace; their numbers are the gateway's own receipt.
WITH keys AS (DELETE FROM api_key WHERE workspace_id = %(workspace_id)s RETURNING 1),
members AS (DELETE FROM membership WHERE workspace_id = %(workspace_id)s RETURNING 1),
answers AS (DELETE FROM idempotent_create WHERE workspace_id = %(workspace_id)s RETURNING 1)
SELECT (SELECT count(*) FROM keys) AS api_key, (SELECT count(*) FROM members) AS membership,
       (SELECT count(*) FROM answers) AS idempotent_create
