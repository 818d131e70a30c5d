SELECT coalesce(array_agg(number), '{}') AS documents, coalesce(sum(chunk_count), 0)::bigint AS chunks
FROM indexed_document
WHERE workspace_id = %(workspace_id)s
  AND (%(document_ids)s::uuid[] IS NULL OR document_id = ANY (%(document_ids)s))
  AND (%(media_types)s::text[] IS NULL OR media_type = ANY (%(media_types)s))
  AND (%(tags)s::text[] IS NULL OR lower(tags::text)::text[] && lower(%(tags)s::text)::text[])
