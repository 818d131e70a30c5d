SELECT DISTINCT workspace_id FROM document_stage
UNION SELECT DISTINCT workspace_id FROM deletion
