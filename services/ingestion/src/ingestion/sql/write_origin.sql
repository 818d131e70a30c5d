-- `name` is the file's. What is there is seen, wherever it was before.
INSERT INTO origin (workspace_id, id, kind, source_id, path, uri, name, document_id, fingerprint, content_hash, excluded)
VALUES (%(workspace_id)s, %(origin_id)s, %(kind)s, %(source_id)s, %(path)s, %(uri)s, %(name)s, %(document_id)s,
        %(fingerprint)s, %(content_hash)s, %(excluded)s)
ON CONFLICT (workspace_id, id)
DO UPDATE SET uri = excluded.uri, name = excluded.name, document_id = excluded.document_id,
              fingerprint = excluded.fingerprint, content_hash = excluded.content_hash, excluded = excluded.excluded,
              seen_at = now(), missing_since = NULL
