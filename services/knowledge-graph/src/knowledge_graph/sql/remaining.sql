SELECT 'mentions', count(*) FROM mention WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
UNION ALL
SELECT 'relation_evidence', count(*)
FROM relation_evidence
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
UNION ALL
SELECT 'alias_evidence', count(*)
FROM alias_evidence
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
UNION ALL
SELECT 'candidates', count(*) FROM candidates WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
UNION ALL
SELECT 'refinement_chunks', count(*)
FROM refinement_chunk
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
