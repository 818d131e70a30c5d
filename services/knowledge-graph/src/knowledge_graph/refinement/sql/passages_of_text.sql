-- Locked, so that they are not deleted while a result for them is written.
SELECT document_id FROM refinement_chunk
WHERE workspace_id = %(workspace_id)s AND digest = %(digest)s
FOR SHARE
