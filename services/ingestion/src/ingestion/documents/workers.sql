-- name: count
SELECT count(*) FROM worker WHERE seen_at > now() - make_interval(secs => %(lease)s);

-- name: slots
-- Returns the slots of one worker; 0 without workers.
SELECT coalesce(max(slots), 0) FROM worker WHERE seen_at > now() - make_interval(secs => %(lease)s);

-- name: walls
SELECT walls FROM worker WHERE seen_at > now() - make_interval(secs => %(lease)s) AND walls <> '[]';

-- name: register
INSERT INTO worker (id, slots, documents, resident_bytes, walls)
VALUES (%(id)s, %(slots)s, %(documents)s, %(resident_bytes)s, %(walls)s)
ON CONFLICT (id) DO UPDATE
SET slots = excluded.slots, documents = excluded.documents, resident_bytes = excluded.resident_bytes, seen_at = now(),
    walls = excluded.walls,
    started_at = CASE WHEN excluded.documents < worker.documents THEN now() ELSE worker.started_at END;

-- name: unregister
DELETE FROM worker WHERE id = %(id)s;

-- name: delete_silent
DELETE FROM worker WHERE seen_at < now() - make_interval(secs => %(after)s);
