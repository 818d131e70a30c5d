-- Numbers of eight bytes each, in no order, and their chunks. Fields of a query match as a part, or as a short form.
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
                       ELSE coalesce(jsonb_path_exists(metadata, path::jsonpath, '{}', true), false) END))
