INSERT INTO indexed_document AS known
    (workspace_id, document_id, number, version, name, title, title_terms, media_type, tags, language, source_type,
     source_ids, written_at, modified_at, metadata, stemming, next_ordinal, chunk_count, term_count, posting_count,
     name_terms)
VALUES
    (%(workspace_id)s, %(document_id)s, %(number)s, %(version)s, %(name)s, %(title)s, %(title_terms)s, %(media_type)s,
     %(tags)s, %(language)s, %(source_type)s, %(source_ids)s, %(written_at)s, %(modified_at)s, %(metadata)s,
     %(stemming)s, %(next_ordinal)s, %(chunk_count)s, %(term_count)s, %(posting_count)s, %(name_terms)s)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET
    version = excluded.version, name = excluded.name, title = excluded.title, title_terms = excluded.title_terms,
    name_terms = excluded.name_terms,
    media_type = excluded.media_type, tags = excluded.tags, language = excluded.language,
    source_type = excluded.source_type, source_ids = excluded.source_ids, written_at = excluded.written_at,
    modified_at = excluded.modified_at, metadata = excluded.metadata,
    stemming = excluded.stemming, next_ordinal = excluded.next_ordinal, chunk_count = excluded.chunk_count,
    term_count = excluded.term_count, posting_count = excluded.posting_count, indexed_at = now()
