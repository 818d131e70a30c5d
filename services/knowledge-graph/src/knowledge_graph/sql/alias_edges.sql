-- What the aliases are said to be; of those with one target alone it is the edge that resolution follows.
SELECT alias_id, min(target_id) AS target_id, count(DISTINCT target_id) AS targets
FROM alias_evidence
WHERE workspace_id = %(workspace_id)s AND alias_id = ANY(%(ids)s)
GROUP BY alias_id
