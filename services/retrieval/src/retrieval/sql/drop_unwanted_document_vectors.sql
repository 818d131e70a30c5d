DELETE FROM document_vector
WHERE NOT wants_document_vectors(%(workspace_id)s)
  AND workspace_id = %(workspace_id)s AND ctid = ANY (ARRAY(
    SELECT ctid FROM document_vector WHERE workspace_id = %(workspace_id)s LIMIT %(limit)s))
