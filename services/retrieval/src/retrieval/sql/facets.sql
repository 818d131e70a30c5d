-- `bitmap` has a bit for each document number from `first` on. Tags count once whatever their case.
WITH left_over AS MATERIALIZED (
    SELECT document_id, media_type, source_type, source_ids, language, tags, chunk_count
    FROM indexed_document
    WHERE workspace_id = %(workspace_id)s
      AND (%(bitmap)s::bytea IS NULL
           OR CASE WHEN number - %(first)s BETWEEN 0 AND 8 * length(%(bitmap)s::bytea) - 1
                   THEN get_bit(%(bitmap)s::bytea, number - %(first)s) = 1 ELSE false END)
), valued AS (
    SELECT 'media_type' AS facet, media_type AS value, media_type AS shown, chunk_count FROM left_over
    WHERE 'media_type' = ANY (%(facets)s)
    UNION ALL
    SELECT 'source_type', source_type, source_type, chunk_count FROM left_over
    WHERE 'source_type' = ANY (%(facets)s) AND source_type IS NOT NULL
    UNION ALL
    SELECT 'source', source_id::text, source_id::text, chunk_count FROM left_over, unnest(source_ids) AS source_id
    WHERE 'source' = ANY (%(facets)s)
    UNION ALL
    SELECT 'language', language, language, chunk_count FROM left_over
    WHERE 'language' = ANY (%(facets)s) AND language IS NOT NULL
    UNION ALL
    SELECT 'tag', lower(tag), min(tag), min(chunk_count) FROM left_over, unnest(tags) AS tag
    WHERE 'tag' = ANY (%(facets)s) GROUP BY document_id, lower(tag)
    UNION ALL
    SELECT 'document', document_id::text, document_id::text, chunk_count FROM left_over
    WHERE 'document' = ANY (%(facets)s)
), counted AS (
    SELECT facet, min(shown) AS value, sum(chunk_count)::bigint AS chunks, count(*) AS documents
    FROM valued GROUP BY facet, value
)
SELECT facet, value, chunks, documents FROM (
    SELECT *, row_number() OVER (PARTITION BY facet ORDER BY documents DESC, chunks DESC, value) AS place FROM counted
) AS ordered
WHERE place <= %(limit)s
ORDER BY facet, place
