-- name: canonical_path
-- Parses a SQL/JSON path expression.
SELECT %(path)s::jsonpath::text;

-- name: is_indexed
-- Returns whether the index has the document.
SELECT EXISTS (
    SELECT FROM indexed_document WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
);

-- name: filter_documents
-- Returns the numbers of matching documents, eight bytes each and unsorted, and how many chunks they have. Values of
-- the query's fields `type:` and `source:` also match short forms and parts of names.
SELECT coalesce(string_agg(int8send(number), ''), '') AS documents, coalesce(sum(chunk_count), 0)::bigint AS chunks
FROM indexed_document
WHERE workspace_id = %(workspace_id)s
  AND (%(document_ids)s::uuid[] IS NULL OR document_id = ANY (%(document_ids)s::uuid[]))
  AND (%(source_ids)s::uuid[] IS NULL OR source_ids && %(source_ids)s)
  AND (%(media_types)s::text[] IS NULL OR media_type = ANY (%(media_types)s))
  AND (%(source_types)s::text[] IS NULL OR source_type = ANY (%(source_types)s))
  AND (%(languages)s::text[] IS NULL OR language = ANY (lower(%(languages)s::text)::text[]))
  AND (%(tags)s::text[] IS NULL OR lower(tags::text)::text[] && lower(%(tags)s::text)::text[])
  AND (%(written_from)s::timestamptz IS NULL OR coalesce(written_at, modified_at) >= %(written_from)s)
  AND (%(written_to)s::timestamptz IS NULL OR coalesce(written_at, modified_at) <= %(written_to)s)
  AND (%(in_tag)s::text[] IS NULL OR lower(tags::text)::text[] @> %(in_tag)s)
  AND (%(in_language)s::text[] IS NULL OR language = ALL (%(in_language)s))
  AND (%(in_type)s::text[] IS NULL OR NOT EXISTS (
        SELECT FROM unnest(%(in_type)s::text[]) AS form
        WHERE media_type <> form AND right(media_type, length(form) + 1) <> '/' || form
          AND right(lower(name), length(form) + 1) <> '.' || form))
  AND (%(in_source)s::text[] IS NULL OR NOT EXISTS (
        SELECT FROM unnest(%(in_source)s::text[]) AS part
        WHERE source_type <> part AND part <> ALL (source_ids::text[])
          AND strpos(lower(coalesce(metadata #>> '{source,name}', '')), part) = 0
          AND strpos(lower(coalesce(metadata #>> '{source,path}', '')), part) = 0
          AND strpos(lower(coalesce(metadata #>> '{source,uri}', '')), part) = 0))
  AND (%(paths)s::text[] IS NULL OR NOT EXISTS (
        SELECT FROM unnest(%(paths)s::text[], %(predicates)s::boolean[]) AS wanted (path, predicate)
        WHERE NOT CASE WHEN predicate THEN coalesce(jsonb_path_match(metadata, path::jsonpath, '{}', true), false)
                       ELSE coalesce(jsonb_path_exists(metadata, path::jsonpath, '{}', true), false) END));

-- name: document_names
-- Returns documents whose titles and names may match: they have all terms, by the rules of their language and in any
-- order, and the beginnings as written. Beginnings are not checked here in names with letters beyond ASCII.
SELECT number, chunk_count, name, title, stemming, name_terms IS NOT NULL AS analysed
FROM indexed_document AS document
CROSS JOIN LATERAL (SELECT coalesce(title, name) AS titled) AS shown
WHERE workspace_id = %(workspace_id)s AND (%(numbers)s::bigint[] IS NULL OR number = ANY (%(numbers)s::bigint[]))
  AND EXISTS (
        SELECT FROM unnest(%(stemmings)s::text[], %(of_title)s::text[], %(of_name)s::text[])
             AS asked (stemming, of_title, of_name)
        WHERE asked.stemming = document.stemming
          AND coalesce(CASE WHEN title IS NULL THEN name_terms ELSE title_terms END @> asked.of_title::text[], true)
          AND coalesce(name_terms @> asked.of_name::text[], true))
  AND NOT EXISTS (
        SELECT FROM unnest(%(beginnings_of_title)s::text[]) AS beginning
        WHERE strpos(lower(titled), beginning) = 0 AND octet_length(titled) = length(titled))
  AND NOT EXISTS (
        SELECT FROM unnest(%(beginnings_of_name)s::text[]) AS beginning
        WHERE strpos(lower(name), beginning) = 0 AND octet_length(name) = length(name));

-- name: facets
-- Counts documents and chunks by the values of facets.
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
ORDER BY facet, place;

-- name: outlines
-- Returns headings and lengths of chunks in ranges of their documents.
SELECT document_id, chunk_index, heading_path, length(content) AS length
FROM unnest(%(document_ids)s::uuid[], %(firsts)s::integer[], %(lasts)s::integer[]) AS wanted (wanted_document, first, last)
JOIN indexed_document ON indexed_document.workspace_id = %(workspace_id)s AND document_id = wanted_document
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND chunk.document = indexed_document.number
          AND chunk_index BETWEEN first AND last;

-- name: chunks_of_spans
-- Returns the chunks in ranges of their documents.
SELECT document_id, chunk_index, chunk_id, content, page, page_end
FROM unnest(%(document_ids)s::uuid[], %(firsts)s::integer[], %(lasts)s::integer[]) AS wanted (wanted_document, first, last)
JOIN indexed_document ON indexed_document.workspace_id = %(workspace_id)s AND document_id = wanted_document
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND chunk.document = indexed_document.number
          AND chunk_index BETWEEN first AND last
ORDER BY document_id, chunk_index;
