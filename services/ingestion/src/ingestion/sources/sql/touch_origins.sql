UPDATE origin
SET fingerprint = coalesce(touched.fingerprint, origin.fingerprint)
FROM unnest(%(ids)s::uuid[], %(fingerprints)s::text[]) AS touched (id, fingerprint)
WHERE origin.workspace_id = %(workspace_id)s AND origin.id = touched.id
