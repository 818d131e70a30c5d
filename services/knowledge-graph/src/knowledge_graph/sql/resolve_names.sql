WITH resolved AS (
    SELECT * FROM unnest(%(ids)s::text[], %(entity_ids)s::text[]) AS rows (id, entity_id)
),
before AS (
    SELECT name.id, name.entity_id
    FROM name INNER JOIN resolved ON resolved.id = name.id
    WHERE name.workspace_id = %(workspace_id)s AND name.entity_id <> resolved.entity_id
),
changed AS (
    UPDATE name SET entity_id = resolved.entity_id
    FROM before INNER JOIN resolved ON resolved.id = before.id
    WHERE name.workspace_id = %(workspace_id)s AND name.id = before.id
    RETURNING name.id, before.entity_id AS old_id, name.entity_id AS new_id
)
SELECT id, old_id, new_id FROM changed
