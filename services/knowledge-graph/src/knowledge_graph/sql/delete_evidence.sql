WITH gone AS (
    DELETE FROM relation_evidence
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
    RETURNING source_id, target_id, relation_type, weight
)
SELECT source_id, target_id, relation_type, sum(weight)::double precision AS weight, count(*)::integer AS evidence
FROM gone
GROUP BY source_id, target_id, relation_type
