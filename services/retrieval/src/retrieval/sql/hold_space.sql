-- Renews the lease of a space that is still the owner's and still what it was claimed for. `worked`: and all is well.
UPDATE embedding_space SET
    lease_until = now() + make_interval(secs => %(lease_seconds)s),
    rate = coalesce(%(rate)s, rate),
    status = CASE WHEN %(worked)s AND status = 'failed' THEN 'building' ELSE status END,
    attempts = CASE WHEN %(worked)s THEN 0 ELSE attempts END,
    error_class = CASE WHEN %(worked)s THEN NULL ELSE error_class END,
    error_message = CASE WHEN %(worked)s THEN NULL ELSE error_message END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_owner = %(owner)s
  AND replace(status, 'failed', 'building') = replace(%(status)s, 'failed', 'building')
