-- Which relations came and went: `change` is 1 or -1, so that the degrees can follow.
WITH rows AS (
    SELECT *
    FROM unnest(
        %(source_ids)s::text[], %(target_ids)s::text[], %(types)s::text[], %(weights)s::double precision[],
        %(evidences)s::integer[]
    ) AS one (source_id, target_id, relation_type, weight, evidence)
),
written AS (
    INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
    SELECT %(workspace_id)s, rows.* FROM rows
    ON CONFLICT (workspace_id, source_id, target_id, relation_type) DO UPDATE SET
        weight = relation.weight + excluded.weight, evidence = relation.evidence + excluded.evidence
    RETURNING source_id, target_id, xmax = 0 AS is_new
)
SELECT source_id, target_id, count(*)::integer AS change FROM written WHERE is_new GROUP BY source_id, target_id
