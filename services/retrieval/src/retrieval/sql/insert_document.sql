INSERT INTO indexed_document
    (workspace_id, document_id, number, version, name, title, title_terms, media_type, chunk_count, term_count)
VALUES
    (%(workspace_id)s, %(document_id)s, %(number)s, %(version)s, %(name)s, %(title)s, %(title_terms)s, %(media_type)s,
     %(chunk_count)s, %(term_count)s)
