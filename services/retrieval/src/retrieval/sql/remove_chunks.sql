WITH vectors AS (
    DELETE FROM chunk_vector USING vector_spaces(%(workspace_id)s) AS space
    WHERE chunk_vector.workspace_id = %(workspace_id)s AND chunk_vector.model = space.model
      AND chunk_vector.dims = space.dims AND chunk_vector.chunk = ANY (%(chunks)s)
)
DELETE FROM chunk WHERE workspace_id = %(workspace_id)s AND number = ANY (%(chunks)s)
