-- The chunks with candidates of known names after the document's changed; those whose mark has to follow.
WITH counted AS (
    UPDATE name SET chunks = name.chunks + changed.chunks
    FROM unnest(%(hashes)s::bigint[], %(chunks)s::integer[]) AS changed (hash, chunks)
    WHERE name.workspace_id = %(workspace_id)s AND name.hash = changed.hash AND name.is_known
    RETURNING name.id, name.hash, name.chunks, name.is_widespread
)
SELECT id, hash, chunks FROM counted WHERE (chunks > %(most)s) <> is_widespread
