DELETE FROM relation
USING unnest(%(sources)s::text[], %(targets)s::text[]) AS pair (source_id, target_id)
WHERE
    relation.workspace_id = %(workspace_id)s
    AND relation.source_id = pair.source_id
    AND relation.target_id = pair.target_id
