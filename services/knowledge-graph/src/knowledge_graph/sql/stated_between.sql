-- What the chunks state between two names, in either direction, surest first.
SELECT pair.number, evidence.relation_type, evidence.phrase, evidence.span_start, evidence.span_end
FROM unnest(
    %(numbers)s::integer[], %(sources)s::text[], %(targets)s::text[], %(chunk_ids)s::text[]
) AS pair (number, source_id, target_id, chunk_id)
INNER JOIN relation_evidence AS evidence ON
    evidence.workspace_id = %(workspace_id)s
    AND evidence.source_id = pair.source_id
    AND evidence.target_id = pair.target_id
    AND evidence.chunk_id = pair.chunk_id
WHERE evidence.method <> 'cooccurrence'
ORDER BY pair.number, evidence.confidence DESC, evidence.number
