INSERT INTO candidates (
    workspace_id, document_id, first_number, chunk_id, hashes, surfaces, starts, ends, sentence_starts, sentence_ends
)
VALUES (
    %(workspace_id)s, %(document_id)s, %(first_number)s, %(chunk_id)s, %(hashes)s, %(surfaces)s, %(starts)s, %(ends)s,
    %(sentence_starts)s, %(sentence_ends)s
)
