INSERT INTO name (workspace_id, id, hash, name_key, entity_id, own, evidence)
SELECT %(workspace_id)s, rows.id, rows.hash, rows.name_key, rows.id, rows.own, rows.evidence
FROM unnest(
    %(ids)s::text[], %(hashes)s::bigint[], %(name_keys)s::text[], %(owns)s::integer[], %(evidences)s::integer[]
) AS rows (id, hash, name_key, own, evidence)
ON CONFLICT (workspace_id, id) DO UPDATE SET
    own = name.own + excluded.own, evidence = name.evidence + excluded.evidence
