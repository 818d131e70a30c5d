-- name: documents
SELECT document_id::text AS id, method = 'user' AS is_import FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(documents)s::uuid[]);

-- name: mentions
-- For whole documents, and for one entity in a document.
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
GROUP BY mention.entity_id, mention.chunk_id, mention.document_id;

-- name: relations
SELECT relation.source_id, relation.target_id, relation.relation_type, relation.weight, relation.evidence
FROM unnest(%(source_ids)s::text[], %(target_ids)s::text[]) AS pair (source_id, target_id)
INNER JOIN relation
    ON relation.workspace_id = %(workspace_id)s
    AND relation.source_id = pair.source_id
    AND relation.target_id = pair.target_id;

-- name: entities
SELECT {entity}
FROM entity
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s);

-- name: page_of_documents
SELECT document_id::text AS id, method = 'user' AS is_import
FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND (%(after)s::uuid IS NULL OR document_id > %(after)s::uuid)
ORDER BY document_id
LIMIT %(limit)s;

-- name: page_of_entities
SELECT {entity}
FROM entity
WHERE workspace_id = %(workspace_id)s AND id > %(after)s
ORDER BY id
LIMIT %(limit)s;

-- name: page_of_relations
SELECT source_id, target_id, relation_type, weight, evidence
FROM relation
WHERE
    workspace_id = %(workspace_id)s
    AND (source_id, target_id, relation_type) > (%(source_id)s, %(target_id)s, %(relation_type)s)
ORDER BY source_id, target_id, relation_type
LIMIT %(limit)s;
