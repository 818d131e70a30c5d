WITH gone AS (
    DELETE FROM alias_evidence
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
    RETURNING alias_id, alias_key, target_id, target_key
)
SELECT alias_id, min(alias_key) AS alias_key, target_id, min(target_key) AS target_key, count(*)::integer AS evidence
FROM gone
GROUP BY alias_id, target_id
