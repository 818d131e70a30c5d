-- name: create
-- Inserts nothing if the world exists.
INSERT INTO world (workspace_id, id, owner_id, document)
VALUES (%(workspace_id)s, %(world_id)s, %(owner_id)s, %(document)s)
ON CONFLICT DO NOTHING;

-- name: find
SELECT id, owner_id, version, document, created_at, updated_at FROM world
WHERE workspace_id = %(workspace_id)s AND id = %(world_id)s;

-- name: lock
-- Locks the world until the transaction ends.
SELECT id, owner_id, version, document, created_at, updated_at FROM world
WHERE workspace_id = %(workspace_id)s AND id = %(world_id)s
FOR UPDATE;

-- name: update
UPDATE world SET version = %(version)s, document = %(document)s, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(world_id)s
RETURNING id, owner_id, version, document, created_at, updated_at;

-- name: add_event
INSERT INTO world_event (
    workspace_id, world_id, version, owner_id, kind, op, path, value, touched, previous, repairs, created_by, run_id
)
VALUES (
    %(workspace_id)s, %(world_id)s, %(version)s, %(owner_id)s, %(kind)s, %(op)s, %(path)s, %(value)s, %(touched)s,
    %(previous)s, %(repairs)s, %(created_by)s, %(run_id)s
);

-- name: events_after
-- Returns the events after a version, newest first.
SELECT {columns} FROM world_event
WHERE workspace_id = %(workspace_id)s AND world_id = %(world_id)s AND version > %(version)s
ORDER BY version DESC;

-- name: topic_events
-- Returns the events that added the topics by reflection, and those in which a person removed any, newest first.
SELECT {columns} FROM world_event
WHERE
    workspace_id = %(workspace_id)s AND world_id = %(world_id)s AND path = %(path)s
    AND (
        kind = 'operation' AND op = 'remove'
        OR kind = 'reflected' AND op = 'add' AND value #>> '{{}}' = ANY(%(topics)s::text[])
    )
ORDER BY version DESC;

-- name: count_events
SELECT count(*) FROM world_event WHERE workspace_id = %(workspace_id)s AND world_id = %(world_id)s;

-- name: rewrite_event
UPDATE world_event SET value = %(value)s, previous = %(previous)s, repairs = %(repairs)s
WHERE workspace_id = %(workspace_id)s AND world_id = %(world_id)s AND version = %(version)s;

-- name: delete_event
DELETE FROM world_event
WHERE workspace_id = %(workspace_id)s AND world_id = %(world_id)s AND version = %(version)s;

-- name: page
-- Returns the newest first.
SELECT {columns} FROM world_event
WHERE
    workspace_id = %(workspace_id)s
    AND world_id = %(world_id)s
    AND (%(before)s::integer IS NULL OR version < %(before)s)
ORDER BY version DESC
LIMIT %(limit)s;

-- name: add_change
-- Inserts nothing if the change was made before.
INSERT INTO world_change (workspace_id, world_id, id, owner_id, digest)
VALUES (%(workspace_id)s, %(world_id)s, %(id)s, %(owner_id)s, %(digest)s)
ON CONFLICT DO NOTHING;

-- name: change_digest
SELECT digest FROM world_change WHERE workspace_id = %(workspace_id)s AND world_id = %(world_id)s AND id = %(id)s;

-- name: is_session_deleted
SELECT EXISTS (SELECT FROM deleted_session WHERE workspace_id = %(workspace_id)s AND session_id = %(world_id)s);

-- name: delete
DELETE FROM world WHERE workspace_id = %(workspace_id)s AND id = %(world_id)s;
