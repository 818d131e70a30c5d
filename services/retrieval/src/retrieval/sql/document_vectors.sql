-- How many of a document's chunks have a vector of the space.
SELECT count(*) FROM chunk_vector
WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
  AND chunk >= %(document)s::bigint << 20 AND chunk < (%(document)s::bigint + 1) << 20
