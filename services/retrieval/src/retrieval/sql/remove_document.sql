WITH document AS (
    DELETE FROM indexed_document WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
    RETURNING number, chunk_count, term_count
), chunks AS (
    DELETE FROM chunk WHERE workspace_id = %(workspace_id)s AND document IN (SELECT number FROM document) RETURNING 1
), postings AS (
    DELETE FROM posting WHERE workspace_id = %(workspace_id)s AND document IN (SELECT number FROM document) RETURNING 1
), vectors AS (
    DELETE FROM chunk_vector WHERE workspace_id = %(workspace_id)s AND document IN (SELECT number FROM document)
    RETURNING 1
)
SELECT
    (SELECT max(number) FROM document) AS number,
    (SELECT count(*) FROM document) AS documents,
    (SELECT count(*) FROM chunks) AS chunks,
    (SELECT count(*) FROM postings) AS postings,
    (SELECT count(*) FROM vectors) AS vectors,
    (SELECT coalesce(sum(term_count), 0)::bigint FROM document) AS terms
