SELECT relation.source_id, relation.target_id, relation.relation_type, relation.weight, relation.evidence
FROM unnest(%(source_ids)s::text[], %(target_ids)s::text[]) AS pair (source_id, target_id)
INNER JOIN relation
    ON relation.workspace_id = %(workspace_id)s
    AND relation.source_id = pair.source_id
    AND relation.target_id = pair.target_id
