SELECT source_deletion.requested_at, max(deletion.completed_at) AS completed_at, count(deletion.document_id) AS documents,
       count(deletion.document_id) FILTER (WHERE deletion.completed_at IS NULL) AS pending_documents
FROM source_deletion
LEFT JOIN deletion
  ON deletion.workspace_id = source_deletion.workspace_id AND deletion.source_id = source_deletion.source_id
WHERE source_deletion.workspace_id = %(workspace_id)s AND source_deletion.source_id = %(source_id)s
GROUP BY source_deletion.requested_at
