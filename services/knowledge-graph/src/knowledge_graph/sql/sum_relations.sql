WITH added AS (
    INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
    SELECT %(workspace_id)s, found.source_id, found.target_id, found.relation_type, sum(found.weight), count(*)
    FROM relation_evidence AS found
    INNER JOIN unnest(%(source_ids)s::text[], %(target_ids)s::text[]) AS pair (source_id, target_id)
        ON found.source_id = pair.source_id AND found.target_id = pair.target_id
    WHERE found.workspace_id = %(workspace_id)s AND found.source_id <> found.target_id
    GROUP BY found.source_id, found.target_id, found.relation_type
    RETURNING source_id, target_id
)
SELECT source_id, target_id, count(*)::integer AS change FROM added GROUP BY source_id, target_id
