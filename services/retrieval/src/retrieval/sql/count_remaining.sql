SELECT
    (SELECT count(*) FROM indexed_document WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s),
    (SELECT count(*) FROM chunk
     WHERE workspace_id = %(workspace_id)s AND number >= %(number)s::bigint << 20
       AND number < (%(number)s::bigint + 1) << 20),
    (SELECT count(*) FROM chunk_vector
     JOIN vector_spaces(%(workspace_id)s) AS space ON chunk_vector.model = space.model AND chunk_vector.dims = space.dims
     WHERE chunk_vector.workspace_id = %(workspace_id)s AND chunk_vector.chunk >= %(number)s::bigint << 20
       AND chunk_vector.chunk < (%(number)s::bigint + 1) << 20)
