SELECT entity.id
FROM entity
LEFT JOIN (
    SELECT source_id AS id, count(*) AS number FROM relation WHERE workspace_id = %(workspace_id)s GROUP BY source_id
) AS outgoing USING (id)
LEFT JOIN (
    SELECT target_id AS id, count(*) AS number FROM relation WHERE workspace_id = %(workspace_id)s GROUP BY target_id
) AS incoming USING (id)
WHERE
    entity.workspace_id = %(workspace_id)s
    AND (
        entity.outgoing <> coalesce(outgoing.number, 0) OR entity.incoming <> coalesce(incoming.number, 0)
    )
