SELECT DISTINCT cited.document_id
FROM unnest(%(document_ids)s::uuid[]) AS cited (document_id)
WHERE NOT EXISTS (
    SELECT FROM deleted_document AS deleted
    WHERE deleted.workspace_id = %(workspace_id)s AND deleted.document_id = cited.document_id
)
