INSERT INTO posting (workspace_id, term, chunk, document, frequency, length)
SELECT %(workspace_id)s, term, chunk, %(document)s, frequency, length
FROM unnest(%(terms)s::text[], %(chunks)s::bigint[], %(frequencies)s::integer[], %(lengths)s::integer[])
     AS written (term, chunk, frequency, length)
