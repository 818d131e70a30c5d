INSERT INTO posting_block
    (workspace_id, block, first_chunk, last_chunk, postings, max_frequency, min_length, term, payload)
SELECT %(workspace_id)s, nextval('posting_batch'), first_chunk, last_chunk, postings, max_frequency, min_length, term, payload
FROM unnest(%(first)s::bigint[], %(last)s::bigint[], %(postings)s::integer[], %(max_frequency)s::integer[],
            %(min_length)s::integer[], %(terms)s::text[], %(payloads)b::bytea[])
     AS written (first_chunk, last_chunk, postings, max_frequency, min_length, term, payload)
