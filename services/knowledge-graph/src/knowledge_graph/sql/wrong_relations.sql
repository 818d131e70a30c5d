-- Pairs whose relations are not what the evidence adds up to.
SELECT DISTINCT source_id, target_id
FROM (
    SELECT source_id, target_id, relation_type, sum(weight) AS weight, count(*) AS evidence
    FROM relation_evidence
    WHERE workspace_id = %(workspace_id)s AND source_id <> target_id
    GROUP BY source_id, target_id, relation_type
) AS truth
FULL JOIN (
    SELECT source_id, target_id, relation_type, weight, evidence
    FROM relation
    WHERE workspace_id = %(workspace_id)s
) AS kept USING (source_id, target_id, relation_type)
WHERE
    truth.evidence IS DISTINCT FROM kept.evidence
    OR abs(truth.weight - kept.weight) > 0.001 * greatest(truth.weight, kept.weight)
