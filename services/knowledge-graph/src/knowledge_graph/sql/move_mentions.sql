WITH moved AS (
    SELECT * FROM unnest(%(ids)s::text[], %(olds)s::text[], %(news)s::text[]) AS rows (id, old_id, new_id)
),
changed AS (
    UPDATE mention SET entity_id = moved.new_id
    FROM moved
    WHERE
        mention.workspace_id = %(workspace_id)s
        AND mention.entity_id = moved.old_id
        AND mention.name_id = moved.id
    RETURNING mention.document_id, moved.old_id, moved.new_id
)
SELECT DISTINCT document_id, old_id, new_id FROM changed
