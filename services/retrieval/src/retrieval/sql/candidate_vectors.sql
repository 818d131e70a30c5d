-- In the binary form of halfvec: two bytes of dimensions, two unused, then halves, big-endian.
SELECT chunk, halfvec_send(embedding) AS sent
FROM chunk_vector
WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s AND chunk = ANY (%(chunks)s)
