-- name: count_names
SELECT count(*) FROM name WHERE workspace_id = %(workspace_id)s;

-- name: count_chunks
SELECT coalesce(sum(chunks), 0)::bigint AS chunks FROM graphed_document WHERE workspace_id = %(workspace_id)s;

-- name: all_names
-- All names of the workspace by id, with what `meanings` returns for each: the entity of that name, else those spelled so.
WITH spelled AS (
    SELECT encode(sha256(convert_to(surface_key, 'UTF8')), 'hex') AS digest, entity_id, uses
    FROM (
        SELECT
            surface_key, entity_id, sum(uses) AS uses,
            row_number() OVER (PARTITION BY surface_key ORDER BY sum(uses) DESC, entity_id) AS place
        FROM surface
        WHERE workspace_id = %(workspace_id)s
        GROUP BY surface_key, entity_id
    ) AS ranked
    WHERE place <= %(most)s
),
found AS (
    SELECT id, entity_id, 1::bigint AS uses, true AS is_exact
    FROM name
    WHERE workspace_id = %(workspace_id)s AND is_known
    UNION ALL
    SELECT left(spelled.digest, 32), spelled.entity_id, spelled.uses, false
    FROM spelled
    WHERE NOT EXISTS (
        SELECT FROM name
        WHERE name.workspace_id = %(workspace_id)s AND name.id = left(spelled.digest, 32) AND name.is_known
    )
),
named AS (
    SELECT
        found.id,
        convert_to(json_build_array(found.id, json_agg(
            json_build_array(
                entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents,
                entity.aliases, found.uses, found.is_exact
            )
            ORDER BY found.uses DESC, entity.id
        ))::text, 'UTF8') AS entities
    FROM found
    INNER JOIN entity ON entity.workspace_id = %(workspace_id)s AND entity.id = found.entity_id
    GROUP BY found.id
),
placed AS (
    SELECT
        id COLLATE "C" AS id,
        int8send(('x' || left(id, 16))::bit(64)::bigint) AS start,
        int8send(sum(octet_length(entities)) OVER (ORDER BY id COLLATE "C")) AS "end",
        entities
    FROM named
)
SELECT
    coalesce(string_agg(start, ''::bytea ORDER BY id), '') AS starts,
    coalesce(string_agg("end", ''::bytea ORDER BY id), '') AS ends,
    coalesce(string_agg(entities, ''::bytea ORDER BY id), '') AS rows
FROM placed;
