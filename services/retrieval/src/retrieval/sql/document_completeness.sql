-- How many of a document's chunks have a vector of the space, and whether it lacks one of its own that is wanted.
SELECT (SELECT count(*) FROM chunk_vector
        WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
          AND chunk >= %(document)s::bigint << 20 AND chunk < (%(document)s::bigint + 1) << 20),
       wants_document_vectors(%(workspace_id)s)
       AND NOT EXISTS (SELECT FROM document_vector
                       WHERE workspace_id = %(workspace_id)s AND document = %(document)s
                         AND model = %(model)s AND dims = %(dims)s)
