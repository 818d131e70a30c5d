SELECT document_id, first_number
FROM candidates
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
UNION
SELECT document_id, first_number FROM chunks_with_candidates(%(hashes)s::bigint[])
