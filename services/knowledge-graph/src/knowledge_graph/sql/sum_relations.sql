INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
SELECT %(workspace_id)s, found.source_id, found.target_id, found.relation_type, sum(found.weight), count(*)
FROM relation_evidence AS found
INNER JOIN unnest(%(sources)s::text[], %(targets)s::text[]) AS pair (source_id, target_id)
    ON found.source_id = pair.source_id AND found.target_id = pair.target_id
WHERE found.workspace_id = %(workspace_id)s
GROUP BY found.source_id, found.target_id, found.relation_type
