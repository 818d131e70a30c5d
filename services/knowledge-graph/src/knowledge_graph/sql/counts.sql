SELECT 'entity' AS counted, entity_type AS kind, count(*)::integer AS number, sum(mentions)::bigint AS mentions
FROM entity
WHERE workspace_id = %(workspace_id)s
GROUP BY entity_type
UNION ALL
SELECT 'relation', relation_type, count(*)::integer, 0
FROM relation
WHERE workspace_id = %(workspace_id)s
GROUP BY relation_type
UNION ALL
SELECT 'document', '', count(*)::integer, 0 FROM graphed_document WHERE workspace_id = %(workspace_id)s AND method <> 'user'
