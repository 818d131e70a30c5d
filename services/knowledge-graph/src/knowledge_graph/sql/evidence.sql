SELECT document_id, chunk_id, span_start AS start, span_end AS "end", confidence, method, phrase
FROM relation_evidence
WHERE
    workspace_id = %(workspace_id)s
    AND source_id = %(source_id)s
    AND target_id = %(target_id)s
    AND relation_type = %(relation_type)s
ORDER BY confidence DESC, document_id, number
LIMIT %(limit)s
