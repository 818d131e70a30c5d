SELECT DISTINCT source_id, target_id
FROM relation_evidence
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
