WITH document AS (
    DELETE FROM indexed_document WHERE workspace_id = %(workspace_id)s AND number = %(number)s
                                   AND document_id = %(document_id)s
    RETURNING 1
), chunks AS (
    DELETE FROM chunk
    WHERE workspace_id = %(workspace_id)s AND number >= %(number)s::bigint << 20
      AND number < (%(number)s::bigint + 1) << 20
    RETURNING 1
), vectors AS (
    DELETE FROM chunk_vector USING vector_spaces(%(workspace_id)s) AS space
    WHERE chunk_vector.workspace_id = %(workspace_id)s AND chunk_vector.model = space.model
      AND chunk_vector.dims = space.dims AND chunk_vector.chunk >= %(number)s::bigint << 20
      AND chunk_vector.chunk < (%(number)s::bigint + 1) << 20
    RETURNING 1
)
SELECT (SELECT count(*) FROM document), (SELECT count(*) FROM chunks), (SELECT count(*) FROM vectors)
