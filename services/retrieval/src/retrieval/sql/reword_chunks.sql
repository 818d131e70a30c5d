-- Chunks that are kept, and found by other words than before.
UPDATE chunk SET terms = reworded.terms, postings = reworded.postings, pieces = reworded.pieces
FROM unnest(%(numbers)s::bigint[], %(terms)s::integer[], %(postings)s::integer[], %(pieces)b::bytea[])
     AS reworded (number, terms, postings, pieces)
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = reworded.number
