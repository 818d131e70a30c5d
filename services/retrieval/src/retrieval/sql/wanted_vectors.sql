-- What of the workspace is to have a vector in each of its spaces: chunks, and documents where they are to have their own.
SELECT coalesce((SELECT chunks FROM workspace_statistics WHERE workspace_id = %(workspace_id)s), 0),
       CASE WHEN wants_document_vectors(%(workspace_id)s)
            THEN (SELECT count(*) FROM indexed_document WHERE workspace_id = %(workspace_id)s AND chunk_count > 0)
            ELSE 0 END
