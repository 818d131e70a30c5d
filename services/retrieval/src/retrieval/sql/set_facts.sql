-- A vector of the document as a whole goes where its summary has changed, and the space that is searched is completed.
WITH stale AS (
    DELETE FROM document_vector USING indexed_document AS before
    WHERE before.workspace_id = %(workspace_id)s AND before.document_id = %(document_id)s
      AND before.metadata ->> 'summary' IS DISTINCT FROM %(metadata)s::jsonb ->> 'summary'
      AND document_vector.workspace_id = %(workspace_id)s AND document_vector.document = before.number
    RETURNING 1
), due AS (
    UPDATE embedding_space SET incomplete = true
    WHERE workspace_id = %(workspace_id)s AND status = 'active' AND NOT incomplete AND EXISTS (SELECT FROM stale)
)
UPDATE indexed_document SET
    tags = %(tags)s, source_type = %(source_type)s, source_ids = %(source_ids)s, written_at = %(written_at)s,
    modified_at = %(modified_at)s, metadata = %(metadata)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
