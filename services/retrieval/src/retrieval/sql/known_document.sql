SELECT document_id, version, name, title, media_type, tags, language, source_type, source_ids,
       written_at, modified_at, metadata, number, stemming, next_ordinal,
       chunk_count, term_count, posting_count
FROM indexed_document
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
