INSERT INTO posting_group (workspace_id, first_term, number, first_chunk, last_chunk, payload)
SELECT %(workspace_id)s, first_term, nextval('posting_batch'), first_chunk, last_chunk, payload
FROM unnest(%(first_terms)s::text[], %(first)s::bigint[], %(last)s::bigint[], %(payloads)b::bytea[])
     AS written (first_term, first_chunk, last_chunk, payload)
ON CONFLICT (workspace_id, first_term) DO UPDATE
SET number = excluded.number, first_chunk = excluded.first_chunk, last_chunk = excluded.last_chunk,
    payload = excluded.payload
