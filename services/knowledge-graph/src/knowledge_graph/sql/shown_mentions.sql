-- Of whole documents, and of one entity in a document.
SELECT entity_id, chunk_id, document_id::text, count(*)::integer AS mentions
FROM mention
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(documents)s::uuid[])
GROUP BY entity_id, chunk_id, document_id
UNION ALL
SELECT mention.entity_id, mention.chunk_id, mention.document_id::text, count(*)::integer AS mentions
FROM unnest(%(mention_documents)s::uuid[], %(mention_entities)s::text[]) AS part (document_id, entity_id)
INNER JOIN mention
    ON mention.workspace_id = %(workspace_id)s
    AND mention.document_id = part.document_id
    AND mention.entity_id = part.entity_id
GROUP BY mention.entity_id, mention.chunk_id, mention.document_id
