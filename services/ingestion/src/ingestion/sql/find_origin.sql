-- In two halves, as an index finds equal values and nulls, but not either of them.
SELECT id, workspace_id, kind, source_id, path, uri, name, document_id, fingerprint, content_hash, excluded, created_at,
       seen_at, missing_since
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND kind = %(kind)s AND path = %(path)s
UNION ALL
SELECT id, workspace_id, kind, source_id, path, uri, name, document_id, fingerprint, content_hash, excluded, created_at,
       seen_at, missing_since
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id IS NULL AND kind = %(kind)s AND path = %(path)s
  AND %(source_id)s::uuid IS NULL
