WITH pair AS (
    SELECT * FROM unnest(%(source_ids)s::text[], %(target_ids)s::text[]) AS rows (source_id, target_id)
),
gone AS (
    DELETE FROM relation
    USING pair
    WHERE
        relation.workspace_id = %(workspace_id)s
        AND relation.source_id = pair.source_id
        AND relation.target_id = pair.target_id
        AND (relation.evidence <= 0 OR %(all)s)
    RETURNING relation.source_id, relation.target_id
)
SELECT source_id, target_id, -count(*)::integer AS change FROM gone GROUP BY source_id, target_id
