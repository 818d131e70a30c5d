WITH vectors AS (
    DELETE FROM chunk_vector WHERE workspace_id = %(workspace_id)s AND document = %(document)s AND chunk = ANY (%(chunks)s)
), postings AS (
    DELETE FROM posting WHERE workspace_id = %(workspace_id)s AND document = %(document)s AND chunk = ANY (%(chunks)s)
)
DELETE FROM chunk WHERE workspace_id = %(workspace_id)s AND number = ANY (%(chunks)s)
