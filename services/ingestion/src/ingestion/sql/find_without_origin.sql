SELECT document_id FROM unnest(%(document_ids)s::uuid[]) AS document_id
WHERE NOT EXISTS (
    SELECT FROM origin WHERE origin.workspace_id = %(workspace_id)s AND origin.document_id = document_id.document_id
)
