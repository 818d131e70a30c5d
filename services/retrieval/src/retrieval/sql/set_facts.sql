UPDATE indexed_document SET
    tags = %(tags)s, source_type = %(source_type)s, source_ids = %(source_ids)s, written_at = %(written_at)s,
    modified_at = %(modified_at)s, metadata = %(metadata)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
