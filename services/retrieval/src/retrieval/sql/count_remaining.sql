SELECT
    (SELECT count(*) FROM indexed_document
     WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS documents,
    (SELECT count(*) FROM chunk WHERE workspace_id = %(workspace_id)s AND document = %(number)s) AS chunks,
    (SELECT count(*) FROM posting WHERE workspace_id = %(workspace_id)s AND document = %(number)s) AS postings,
    (SELECT count(*) FROM chunk_vector WHERE workspace_id = %(workspace_id)s AND document = %(number)s) AS vectors
