-- name: about
-- At most `of_document` per document, so that a long one does not take all places; chunks about the entity come first.
SELECT document_id, chunk_id
FROM (
    SELECT
        counted.*,
        row_number() OVER (
            PARTITION BY counted.document_id ORDER BY counted.is_about DESC, counted.mentions DESC, counted.chunk_id
        ) AS place
    FROM (
        SELECT document_id, chunk_id, bool_or(about IS NOT NULL) AS is_about, count(*) AS mentions
        FROM (
            SELECT document_id, chunk_id, about
            FROM mention
            WHERE workspace_id = %(workspace_id)s AND entity_id = %(id)s AND origin <> 'user'
            LIMIT %(looked_at)s
        ) AS looked_up
        GROUP BY document_id, chunk_id
    ) AS counted
) AS ranked
WHERE place <= %(of_document)s
ORDER BY is_about DESC, mentions DESC, chunk_id
LIMIT %(limit)s;

-- name: documents
SELECT document_id, name, chunks_key
FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(ids)s);

-- name: is_known
SELECT EXISTS (SELECT FROM entity WHERE workspace_id = %(workspace_id)s AND id = %(id)s);

-- name: passages
-- The chunks that mention an entity, those that do so most often first, with the places of its name. Imported triples are
-- in no chunk.
SELECT *
FROM (
    SELECT
        document_id,
        chunk_id,
        count(*)::integer AS mentions,
        array_agg(span_start ORDER BY span_start, span_end) AS starts,
        array_agg(span_end ORDER BY span_start, span_end) AS ends
    FROM mention
    WHERE workspace_id = %(workspace_id)s AND entity_id = %(id)s AND NOT starts_with(chunk_id, 'import:')
    GROUP BY document_id, chunk_id
) AS counted
WHERE
    %(mentions)s::integer IS NULL
    OR mentions < %(mentions)s
    OR (mentions = %(mentions)s AND (document_id, chunk_id) > (%(document_id)s::uuid, %(chunk_id)s::text))
ORDER BY mentions DESC, document_id, chunk_id
LIMIT %(limit)s;
