INSERT INTO recent_postings (workspace_id, document, batch, postings, payload)
SELECT %(workspace_id)s, document, nextval('posting_batch'), postings, payload
FROM unnest(%(documents)s::bigint[], %(postings)s::integer[], %(payloads)b::bytea[]) AS written (document, postings, payload)
RETURNING document, batch
